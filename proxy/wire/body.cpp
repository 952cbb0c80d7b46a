// Reading bodies.
#include "wire/body.hpp"

#include <algorithm>

namespace onceward::wire {

BodyReader::BodyReader(Stream& stream, Framing framing, std::uint64_t length)
    : stream_(stream), framing_(framing), left_(length)
{
    if (framing == Framing::chunked) decoder_ = std::make_unique<ChunkedDecoder>();
    if (framing == Framing::none || (framing == Framing::length && length == 0))
        state_ = State::ended;
}

BodyReader::Piece BodyReader::take_counted()
{
    auto bytes = stream_.buffered();
    if (framing_ == Framing::length) {
        bytes =
            bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), left_)));
        left_ -= bytes.size();
        if (left_ == 0) state_ = State::ended;
    }
    shown_ = bytes.size();
    return {state_, bytes};
}

BodyReader::Piece BodyReader::take_chunked()
{
    decoded_.clear();
    const auto step = decoder_->decode(stream_.buffered(), decoded_);
    stream_.consume(step.consumed);
    if (step.state == ChunkedDecoder::State::malformed) state_ = State::malformed;
    if (step.state == ChunkedDecoder::State::ended) state_ = State::ended;
    return {state_, decoded_};
}

BodyReader::Piece BodyReader::take_buffered()
{
    stream_.consume(shown_);
    shown_ = 0;
    if (state_ != State::more || stream_.buffered().empty()) return {state_, {}};
    return framing_ == Framing::chunked ? take_chunked() : take_counted();
}

void BodyReader::fail(IoError error)
{
    switch (error) {
        case IoError::timeout: state_ = State::timeout; break;
        case IoError::too_large:
        case IoError::malformed: state_ = State::malformed; break;
        case IoError::closed:
            state_ = framing_ == Framing::until_close ? State::closed : State::truncated;
            break;
        case IoError::reset: state_ = State::truncated; break;
    }
}

awaitable<BodyReader::Piece> BodyReader::next()
{
    for (;;) {
        const auto piece = take_buffered();
        if (piece.state != State::more || !piece.bytes.empty()) co_return piece;
        const auto added = co_await stream_.fill();
        if (!added) {
            fail(added.error());
            co_return Piece{state_, {}};
        }
    }
}

}  // namespace onceward::wire
