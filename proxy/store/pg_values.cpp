// PostgreSQL's binary format: big-endian integers, arrays as a header and (length, value)*.
#include "store/pg_values.hpp"

namespace onceward {

namespace {

std::size_t width_of(PgType element)
{
    switch (element) {
        case PgType::boolean: return 1;
        case PgType::int2: return 2;
        case PgType::int4: return 4;
        case PgType::int8: return 8;
        case PgType::bytea:
        case PgType::text:
        case PgType::uuid:
        case PgType::int2_array:
        case PgType::int4_array:
        case PgType::int8_array:
        case PgType::text_array:
        case PgType::bytea_array:
        case PgType::uuid_array: break;
    }
    return 8;
}

}  // namespace

void append_integer(std::string& to, std::int64_t value, std::size_t bytes)
{
    const auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = bytes; i-- > 0;)
        to.push_back(static_cast<char>(bits >> (8 * i) & 0xFF));
}

PgArray& PgArray::add_integer(std::int64_t value)
{
    const auto width = width_of(element_);
    append_integer(elements_, static_cast<std::int64_t>(width), 4);
    append_integer(elements_, value, width);
    ++count_;
    return *this;
}

PgArray& PgArray::add_bytes(std::string_view value)
{
    append_integer(elements_, static_cast<std::int64_t>(value.size()), 4);
    elements_.append(value);
    ++count_;
    return *this;
}

PgArray& PgArray::add_null()
{
    append_integer(elements_, -1, 4);
    has_null_ = true;
    ++count_;
    return *this;
}

std::string PgArray::take()
{
    std::string value;
    value.reserve(20 + elements_.size());
    append_integer(value, count_ == 0 ? 0 : 1, 4);
    append_integer(value, has_null_ ? 1 : 0, 4);
    append_integer(value, static_cast<std::int64_t>(element_), 4);
    if (count_ == 0) return value;
    append_integer(value, count_, 4);
    append_integer(value, 1, 4);
    value.append(elements_);
    return value;
}

std::string int8_value(std::int64_t value)
{
    std::string bytes;
    append_integer(bytes, value, 8);
    return bytes;
}

std::string int4_value(std::int32_t value)
{
    std::string bytes;
    append_integer(bytes, value, 4);
    return bytes;
}

std::int64_t read_integer(std::string_view bytes)
{
    if (bytes.empty() || bytes.size() > 8) return 0;
    // Sign extension from the first byte.
    auto bits =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<signed char>(bytes[0])));
    for (const char byte : bytes.substr(1))
        bits = bits << 8 | static_cast<unsigned char>(byte);
    return static_cast<std::int64_t>(bits);
}

}  // namespace onceward
