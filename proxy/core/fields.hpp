// Header fields of one message, kept in the exact form in which they are stored.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace onceward::core {

struct Field {
    std::string_view name;   // As received: case is kept.
    std::string_view value;  // Without leading and trailing blanks; bytes, not text.
};

// True when both names are the same field name (RFC 9110 section 5.1: ASCII case does not count).
bool same_name(std::string_view a, std::string_view b);

// RFC 9110 section 5.1: one or more tchar.
bool is_token(std::string_view text);

// RFC 9110 section 5.5 without leading or trailing blanks: no control character but HTAB (HTP-18).
bool is_field_value(std::string_view text);

// An ordered list of fields in one buffer: (u16 name length, name, u32 value length, value)*,
// lengths big-endian. One allocation a message, and the stored form needs no conversion (decision
// 8).
class Fields {
public:
    class iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = Field;
        using difference_type = std::ptrdiff_t;
        using pointer = const Field*;
        using reference = Field;

        iterator() = default;
        explicit iterator(const char* at) : at_(at) {}
        Field operator*() const;
        iterator& operator++();
        iterator operator++(int);
        bool operator==(const iterator&) const = default;

    private:
        const char* at_ = nullptr;
    };

    // Appends a field. Precondition, asserted: is_token(name), at most 65,535 bytes. A value that
    // could end the line (CR, LF, NUL or another control character) is refused: false, and nothing
    // is added (HTP-18).
    bool add(std::string_view name, std::string_view value);

    // Removes every field of this name; returns how many there were.
    std::size_t remove(std::string_view name);

    // The value of the first field of this name.
    std::optional<std::string_view> find(std::string_view name) const;
    std::size_t count(std::string_view name) const;
    bool has(std::string_view name) const { return find(name).has_value(); }

    iterator begin() const { return iterator(encoded_.data()); }
    iterator end() const { return iterator(encoded_.data() + encoded_.size()); }
    bool empty() const { return encoded_.empty(); }
    void reserve(std::size_t bytes) { encoded_.reserve(bytes); }

    // The stored form, and back. decode refuses what is cut short or could not have come from add:
    // a row changed behind our back must never become a header (T13).
    const std::string& encoded() const { return encoded_; }
    static std::optional<Fields> decode(std::string_view encoded);

    bool operator==(const Fields&) const = default;

private:
    std::string encoded_;
};

}  // namespace onceward::core
