// Header fields in their stored form.
#include "core/fields.hpp"

#include <cassert>
#include <cstdint>

namespace onceward::core {

namespace {

constexpr std::size_t name_max = 0xFFFF;

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

std::uint32_t byte_at(const char* at)
{
    return static_cast<unsigned char>(*at);
}

std::size_t read_u16(const char* at)
{
    return byte_at(at) << 8 | byte_at(at + 1);
}

std::size_t read_u32(const char* at)
{
    return byte_at(at) << 24 | byte_at(at + 1) << 16 | byte_at(at + 2) << 8 | byte_at(at + 3);
}

void append_length(std::string& out, std::size_t length, int bytes)
{
    for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
        out.push_back(static_cast<char>(length >> shift & 0xFF));
    }
}

bool is_tchar(char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
    return c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

}  // namespace

bool same_name(std::string_view a, std::string_view b)
{
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (lower(a[i]) != lower(b[i])) return false;
    }
    return true;
}

bool is_token(std::string_view text)
{
    for (char c : text) {
        if (!is_tchar(c)) return false;
    }
    return !text.empty();
}

bool is_field_value(std::string_view text)
{
    for (char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte == 0x7F || (byte < 0x20 && c != '\t')) return false;
    }
    return true;
}

Field Fields::iterator::operator*() const
{
    const auto name_size = read_u16(at_);
    const char* name = at_ + 2;
    const auto value_size = read_u32(name + name_size);
    return {{name, name_size}, {name + name_size + 4, value_size}};
}

Fields::iterator& Fields::iterator::operator++()
{
    const Field field = **this;
    at_ = field.value.data() + field.value.size();
    return *this;
}

Fields::iterator Fields::iterator::operator++(int)
{
    auto before = *this;
    ++*this;
    return before;
}

bool Fields::add(std::string_view name, std::string_view value)
{
    assert(is_token(name) && name.size() <= name_max);
    if (!is_field_value(value) || value.size() > 0xFFFFFFFF) return false;
    append_length(encoded_, name.size(), 2);
    encoded_.append(name);
    append_length(encoded_, value.size(), 4);
    encoded_.append(value);
    return true;
}

std::size_t Fields::remove(std::string_view name)
{
    const auto removed = count(name);
    if (removed == 0) return 0;
    Fields kept;
    kept.reserve(encoded_.size());
    for (const auto field : *this) {
        if (!same_name(field.name, name)) kept.add(field.name, field.value);
    }
    *this = std::move(kept);
    return removed;
}

std::optional<std::string_view> Fields::find(std::string_view name) const
{
    for (const auto field : *this) {
        if (same_name(field.name, name)) return field.value;
    }
    return std::nullopt;
}

std::size_t Fields::count(std::string_view name) const
{
    std::size_t found = 0;
    for (const auto field : *this) {
        if (same_name(field.name, name)) ++found;
    }
    return found;
}

std::optional<Fields> Fields::decode(std::string_view encoded)
{
    const std::string_view whole = encoded;
    while (!encoded.empty()) {
        if (encoded.size() < 2) return std::nullopt;
        const auto name_size = read_u16(encoded.data());
        if (encoded.size() < 2 + name_size + 4) return std::nullopt;
        const auto value_size = read_u32(encoded.data() + 2 + name_size);
        if (encoded.size() - (2 + name_size + 4) < value_size) return std::nullopt;
        if (!is_token(encoded.substr(2, name_size))) return std::nullopt;
        if (!is_field_value(encoded.substr(2 + name_size + 4, value_size))) return std::nullopt;
        encoded.remove_prefix(2 + name_size + 4 + value_size);
    }
    Fields fields;
    fields.encoded_ = whole;
    return fields;
}

}  // namespace onceward::core
