// Decoding the chunked transfer coding with Beast's parser, which is fed a head of our own making:
// what the client's head said was settled before (decision 23).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace onceward::wire {

class ChunkedDecoder {
public:
    ChunkedDecoder();
    ~ChunkedDecoder();
    ChunkedDecoder(ChunkedDecoder&&) noexcept;
    ChunkedDecoder& operator=(ChunkedDecoder&&) noexcept;

    enum class State : std::uint8_t { more, ended, malformed };
    struct Step {
        State state = State::more;
        std::size_t consumed = 0;  // Bytes of input that need not be shown again.
    };

    // Appends what the input decodes to. Trailer fields and chunk extensions are checked and
    // dropped (HTP-11).
    Step decode(std::string_view input, std::string& output);

private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
};

// One chunk's frame: the size line, to be followed by the bytes and by `chunk_end`.
std::string chunk_begin(std::size_t bytes);
inline constexpr std::string_view chunk_end = "\r\n";
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace onceward::wire
