// Redis' protocol (RESP2) as plain values; the only file pair that knows hiredis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct redisReader;

namespace onceward {

struct RespReply {
    enum class Kind : std::uint8_t { text, status, error, integer, nil, array };

    Kind kind = Kind::nil;
    std::string text;                 // text, status, error: bytes.
    std::int64_t integer = 0;         // integer.
    std::vector<RespReply> elements;  // array.

    bool is(Kind wanted) const { return kind == wanted; }
    // The first word of an error: WRONGTYPE, MOVED, NOAUTH; empty for every other kind.
    std::string_view error_code() const;
};

// One command as the server reads it: binary-safe, whatever the words hold (SEC-1).
std::string encode_command(std::span<const std::string_view> words);

// What a peer may make us keep. A reply beyond it ends the connection.
struct RespLimits {
    std::size_t reply_bytes_max = 1 << 20;  // Of one whole reply, arrays included.
    std::size_t elements_max = 256;         // Of one whole reply, over all its arrays.
};

// Takes bytes as they come and gives whole replies in their order. After the first mistake it gives
// nothing more: positions are lost, and so is the connection.
class RespReader {
public:
    explicit RespReader(RespLimits limits = {});
    ~RespReader();
    RespReader(const RespReader&) = delete;
    RespReader& operator=(const RespReader&) = delete;

    void feed(std::string_view bytes);
    // The next reply; absent when more bytes are needed or the peer has failed.
    std::optional<RespReply> next();

    bool failed() const { return !error_.empty(); }
    // In words for a log: never bytes of the peer.
    const std::string& error() const { return error_; }

private:
    struct Free {
        void operator()(redisReader* reader) const;
    };

    RespLimits limits_;
    std::unique_ptr<redisReader, Free> reader_;
    std::size_t elements_left_ = 0;  // Of the reply that is being read.
    std::size_t unread_ = 0;         // Bytes fed since the last whole reply.
    std::string error_;
};

}  // namespace onceward
