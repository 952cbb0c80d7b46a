// Decoding chunks, however the bytes are cut.
#include "wire/chunked.hpp"

#include <doctest/doctest.h>

#include <string>

using onceward::wire::ChunkedDecoder;

namespace {

struct Decoded {
    ChunkedDecoder::State state = ChunkedDecoder::State::more;
    std::string bytes;
    std::size_t left = 0;
};

// Shows the input in pieces of `step` bytes, keeping what was not consumed, as a stream does.
Decoded decode(const std::string& input, std::size_t step)
{
    ChunkedDecoder decoder;
    Decoded decoded;
    std::string buffer;
    std::size_t shown = 0;
    while (decoded.state == ChunkedDecoder::State::more && shown < input.size()) {
        buffer += input.substr(shown, step);
        shown = std::min(input.size(), shown + step);
        const auto done = decoder.decode(buffer, decoded.bytes);
        decoded.state = done.state;
        buffer.erase(0, done.consumed);
    }
    decoded.left = buffer.size() + (input.size() - shown);
    return decoded;
}

}  // namespace

TEST_CASE("a chunked body decodes the same however it is cut, and leaves the next message alone")
{
    const std::string input =
        "5;ext=\"a b\"\r\nhello\r\n1\r\n!\r\n0\r\nX-Trailer: v\r\n\r\nGET / HTTP/1.1\r\n";
    for (std::size_t step = 1; step <= input.size(); ++step) {
        const auto decoded = decode(input, step);
        CHECK(decoded.state == ChunkedDecoder::State::ended);
        CHECK(decoded.bytes == "hello!");
        CHECK(decoded.left == std::string("GET / HTTP/1.1\r\n").size());
    }
}

TEST_CASE("R06 the last chunk in three segments ends an empty body")
{
    ChunkedDecoder decoder;
    std::string out;
    CHECK(decoder.decode("0\r\n", out).state == ChunkedDecoder::State::more);
    for (std::size_t step : {1, 2, 3, 4}) {
        const auto decoded = decode("0\r\n\r\n", step);
        CHECK(decoded.state == ChunkedDecoder::State::ended);
        CHECK(decoded.bytes.empty());
    }
}

TEST_CASE("broken chunks are malformed, never an end")
{
    for (const auto* input :
         {"x\r\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "+5\r\nhello\r\n",
          "5\r\nhello0\r\n\r\n", "ffffffffffffffffff\r\n", "5\r\nhelloXX0\r\n\r\n",
          "0\r\nContent-Length: 3\r\nbad line\r\n\r\n"}) {
        CHECK_MESSAGE(decode(input, 1'000).state == ChunkedDecoder::State::malformed,
                      std::string(input));
    }
    CHECK(decode("5\r\nhel", 1'000).state == ChunkedDecoder::State::more);
}
