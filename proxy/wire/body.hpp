// Reading a message's body from a stream, piece by piece, in whatever framing its head announced.
#pragma once

#include "wire/chunked.hpp"
#include "wire/stream.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace onceward::wire {

class BodyReader {
public:
    // The stream outlives the reader; its head has been consumed.
    BodyReader(Stream& stream, Framing framing, std::uint64_t length);
    // Leaves what belongs to the next message, and only that, in the stream's buffer.
    ~BodyReader() { stream_.consume(shown_); }
    BodyReader(const BodyReader&) = delete;
    BodyReader& operator=(const BodyReader&) = delete;

    enum class State : std::uint8_t {
        more,
        ended,   // Complete, as the framing proves.
        closed,  // Framing::until_close, and the peer ended the connection: complete for all we can
                 // know.
        truncated,  // The connection ended or broke before the body did.
        malformed,  // The chunked coding is broken.
        timeout,
    };
    struct Piece {
        State state = State::more;
        std::string_view bytes;  // Good until the next call; may be empty.
    };

    // What the stream's buffer already holds, without reading.
    Piece take_buffered();
    // At least one byte, or the end. Bytes may come together with `ended`.
    awaitable<Piece> next();

    State state() const { return state_; }

private:
    Piece take_counted();
    Piece take_chunked();
    void fail(IoError error);

    Stream& stream_;
    Framing framing_;
    std::uint64_t left_;
    std::unique_ptr<ChunkedDecoder> decoder_;  // Framing::chunked only.
    std::string decoded_;
    std::size_t shown_ = 0;  // Bytes of the stream's buffer that the last piece points into.
    State state_ = State::more;
};

}  // namespace onceward::wire
