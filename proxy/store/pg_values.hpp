// Values as PostgreSQL's binary format has them: written by hand, because quoting text is how one
// value spoils a batch.
#pragma once

#include "core/identifiers.hpp"

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onceward {

// Type numbers of PostgreSQL's catalogue; they never change.
enum class PgType : std::uint32_t {
    boolean = 16,
    bytea = 17,
    int8 = 20,
    int2 = 21,
    int4 = 23,
    text = 25,
    uuid = 2950,
    int2_array = 1005,
    int4_array = 1007,
    int8_array = 1016,
    text_array = 1009,
    bytea_array = 1001,
    uuid_array = 2951,
};

// One value in network byte order; integers, text and 16-byte identifiers.
void append_integer(std::string& to, std::int64_t value, std::size_t bytes);

// The array under construction: one dimension, lower bound 1.
class PgArray {
public:
    explicit PgArray(PgType element) : element_(element) {}

    PgArray& add_integer(std::int64_t value);  // As wide as the element type.
    PgArray& add_bytes(std::string_view value);
    PgArray& add_null();
    template <class Tag>
    PgArray& add(const core::Bytes16<Tag>& id)
    {
        return add_bytes({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
    }

    // The finished value.
    std::string take();

private:
    PgType element_;
    std::string elements_;
    std::uint32_t count_ = 0;
    bool has_null_ = false;
};

// The parameters of one statement, in order; absent is NULL.
using PgParameters = std::vector<std::optional<std::string>>;

std::string int8_value(std::int64_t value);
std::string int4_value(std::int32_t value);

// Reads a big-endian integer of 1 to 8 bytes, or 0 when it has another size.
std::int64_t read_integer(std::string_view bytes);

// False when there are not exactly 16 bytes.
template <class Tag>
bool read_id(std::string_view bytes, core::Bytes16<Tag>& into)
{
    if (bytes.size() != into.bytes.size()) return false;
    std::memcpy(into.bytes.data(), bytes.data(), bytes.size());
    return true;
}

}  // namespace onceward
