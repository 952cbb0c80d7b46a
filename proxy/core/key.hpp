// The client's key: reading it from its field, and the digest under which its record is kept.
#pragma once

#include "core/fields.hpp"
#include "core/identifiers.hpp"
#include "core/secret.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace onceward::core {

struct KeySyntax {
    std::string header = "Idempotency-Key";
    std::vector<std::string> aliases;  // Other names that carry the same key.
    std::size_t length_max = 255;      // Bytes after decoding (KEY-7); at most 1,024.
};

struct KeyMissing {};
struct KeyInvalid {
    std::string_view why;  // A fixed sentence, never a part of the key (ERR-4).
};
using KeyResult = std::variant<std::string, KeyMissing, KeyInvalid>;

// Reads the key from the head's fields (KEY-3..9). A value that begins with a quote is an RFC 9651
// String, any other is bare; "abc" and abc are the same key. Two fields that carry a key, of one
// name or of two, are invalid even when equal.
KeyResult read_key(const Fields& fields, const KeySyntax& syntax);

// The value of one key field, already without surrounding blanks.
KeyResult parse_key(std::string_view value, std::size_t length_max);

// What makes two requests carry the same key (SCP-1): whose key, for what action, which key.
struct KeyScope {
    std::string_view vhost = "default";  // The configured id, never the Host field (decision 9).
    std::string_view subject;            // Canonical bytes, see core/subject.hpp.
    std::string_view route_id;
    std::string_view method;  // The effective method.
    std::string_view key;
};

Digest key_digest(const KeyedHash& hash, const KeyScope& scope);

}  // namespace onceward::core
