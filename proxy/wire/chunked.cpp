// The one place where Beast's parser runs.
#include "wire/chunked.hpp"

#include "core/fields.hpp"

#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <cstdio>
#include <exception>

namespace onceward::wire {

namespace http = boost::beast::http;

namespace {

// Beast lets bare CR, LF and other control characters pass in a quoted extension; another parser
// may see the end of a line there.
struct ExtensionCheck {
    void operator()(std::uint64_t, boost::beast::string_view extensions,
                    boost::system::error_code& error) const
    {
        if (!core::is_field_value({extensions.data(), extensions.size()}))
            error = http::error::bad_chunk_extension;
    }
};

}  // namespace

struct ChunkedDecoder::Parser {
    http::request_parser<http::buffer_body> beast;
    ExtensionCheck check;
    bool broken = false;
};

ChunkedDecoder::ChunkedDecoder() : parser_(std::make_unique<Parser>())
{
    constexpr std::string_view head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    parser_->beast.body_limit(boost::none);
    parser_->beast.eager(true);
    parser_->beast.on_chunk_header(parser_->check);
    boost::system::error_code error;
    parser_->beast.put(boost::asio::buffer(head), error);
    parser_->broken = error && error != http::error::need_more && error != http::error::need_buffer;
}

ChunkedDecoder::~ChunkedDecoder() = default;
ChunkedDecoder::ChunkedDecoder(ChunkedDecoder&&) noexcept = default;
ChunkedDecoder& ChunkedDecoder::operator=(ChunkedDecoder&&) noexcept = default;

ChunkedDecoder::Step ChunkedDecoder::decode(std::string_view input, std::string& output)
{
    Step step;
    auto& beast = parser_->beast;
    const auto before = output.size();
    output.resize(before + input.size());  // Decoding never lengthens.
    auto& body = beast.get().body();
    body.data = output.data() + before;
    body.size = input.size();
    body.more = true;

    // Boost 1.81 throws out of the parser where later versions return an error.
    try {
        while (!parser_->broken && !beast.is_done() && step.consumed < input.size()) {
            boost::system::error_code error;
            const auto rest = input.substr(step.consumed);
            const auto used = beast.put(boost::asio::buffer(rest), error);
            step.consumed += used;
            if (error && error != http::error::need_more && error != http::error::need_buffer) {
                parser_->broken = true;
            }
            if (used == 0) break;
        }
    } catch (const std::exception&) {
        parser_->broken = true;
    }
    output.resize(before + (input.size() - body.size));
    body.data = nullptr;
    body.size = 0;
    if (parser_->broken) {
        step.state = State::malformed;
    } else if (beast.is_done()) {
        step.state = State::ended;
    }
    return step;
}

std::string chunk_begin(std::size_t bytes)
{
    char line[20];
    const int size = std::snprintf(line, sizeof line, "%zx\r\n", bytes);
    return {line, static_cast<std::size_t>(size)};
}

}  // namespace onceward::wire
