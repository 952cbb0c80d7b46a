// Reading and naming the client's key.
#include "core/key.hpp"

namespace onceward::core {

namespace {

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

bool is_alpha(char c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}

bool is_printable(char c)
{
    return c >= 0x20 && c < 0x7F;
}

std::size_t run(std::string_view text, bool (*belongs)(char))
{
    std::size_t size = 0;
    while (size < text.size() && belongs(text[size]))
        ++size;
    return size;
}

// RFC 9651 section 4.2: how many bytes at the front of `text` form one item of the named type; zero
// when none do. Parameters mean nothing to us, but only what is known to be one may follow a key
// (KEY-3, KEY-4).
std::size_t name_size(std::string_view text)
{
    if (text.empty() || (!is_lower(text.front()) && text.front() != '*')) return 0;
    return run(text, [](char c) {
        return is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '*';
    });
}

std::size_t number_size(std::string_view text)
{
    const std::size_t sign = text.starts_with('-') ? 1 : 0;
    const auto digits = run(text.substr(sign), is_digit);
    const auto rest = text.substr(sign + digits);
    if (!rest.starts_with('.')) return digits >= 1 && digits <= 15 ? sign + digits : 0;
    const auto fraction = run(rest.substr(1), is_digit);
    const bool fits = digits >= 1 && digits <= 12 && fraction >= 1 && fraction <= 3;
    return fits ? sign + digits + 1 + fraction : 0;
}

std::size_t date_size(std::string_view text)
{
    const auto number = text.substr(1);
    const auto size = number_size(number);
    return size == 0 || number.substr(0, size).find('.') != std::string_view::npos ? 0 : size + 1;
}

std::size_t byte_sequence_size(std::string_view text)
{
    const auto size = run(text.substr(1), [](char c) {
        return is_alpha(c) || is_digit(c) || c == '+' || c == '/' || c == '=';
    });
    return text.substr(1 + size).starts_with(':') ? size + 2 : 0;
}

// Both kinds of string: after the opening quote, `escape` begins what stands for another character.
std::size_t string_size(std::string_view text, std::size_t opening, char escape)
{
    constexpr std::string_view lower_hex = "0123456789abcdef";
    for (std::size_t i = opening; i < text.size(); ++i) {
        if (!is_printable(text[i])) return 0;
        if (text[i] == '"') return i + 1;
        if (text[i] != escape) continue;
        const auto escaped = text.substr(i + 1, escape == '%' ? 2 : 1);
        const auto allowed = escape == '%' ? lower_hex : std::string_view("\"\\");
        if (escaped.empty() || escaped.find_first_not_of(allowed) != std::string_view::npos)
            return 0;
        i += escaped.size();
    }
    return 0;
}

std::size_t item_size(std::string_view text)
{
    if (text.empty()) return 0;
    switch (text.front()) {
        case '"': return string_size(text, 1, '\\');
        case '%': return text.starts_with("%\"") ? string_size(text, 2, '%') : 0;
        case ':': return byte_sequence_size(text);
        case '@': return date_size(text);
        case '?': return text.starts_with("?0") || text.starts_with("?1") ? 2 : 0;
        default: break;
    }
    if (text.front() == '-' || is_digit(text.front())) return number_size(text);
    if (!is_alpha(text.front()) && text.front() != '*') return 0;
    return run(text, [](char c) { return is_token({&c, 1}) || c == ':' || c == '/'; });
}

// RFC 9651 section 4.2.3.2: (";" *SP name ["=" item])*.
bool are_parameters(std::string_view rest)
{
    while (!rest.empty()) {
        if (rest.front() != ';') return false;
        rest.remove_prefix(1);
        rest.remove_prefix(run(rest, [](char c) { return c == ' '; }));
        const auto name = name_size(rest);
        if (name == 0) return false;
        rest.remove_prefix(name);
        if (!rest.starts_with('=')) continue;
        rest.remove_prefix(1);
        const auto value = item_size(rest);
        if (value == 0) return false;
        rest.remove_prefix(value);
    }
    return true;
}

// RFC 9651 section 4.2.5. The text begins with the opening quote.
KeyResult parse_quoted(std::string_view text)
{
    std::string key;
    for (std::size_t i = 1; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') {
            if (!are_parameters(text.substr(i + 1))) {
                return KeyInvalid{"something other than parameters follows the closing quote"};
            }
            return key;
        }
        if (c == '\\') {
            if (++i == text.size() || (text[i] != '"' && text[i] != '\\')) {
                return KeyInvalid{"a backslash may only precede a quote or a backslash"};
            }
            key.push_back(text[i]);
        } else if (!is_printable(c)) {
            return KeyInvalid{"a quoted key holds printable ASCII only"};
        } else {
            key.push_back(c);
        }
    }
    return KeyInvalid{"the closing quote is missing"};
}

KeyResult parse_bare(std::string_view text)
{
    for (char c : text) {
        if (c <= 0x20 || c >= 0x7F || c == '"' || c == ',' || c == ';' || c == '\\') {
            return KeyInvalid{
                "a bare key holds printable ASCII without blanks, quotes, commas, semicolons or "
                "backslashes"};
        }
    }
    return std::string(text);
}

}  // namespace

KeyResult parse_key(std::string_view value, std::size_t length_max)
{
    if (value.empty()) return KeyInvalid{"the key is empty"};
    auto result = value.front() == '"' ? parse_quoted(value) : parse_bare(value);
    if (const auto* key = std::get_if<std::string>(&result)) {
        if (key->empty()) return KeyInvalid{"the key is empty"};
        if (key->size() > length_max) return KeyInvalid{"the key is too long"};
    }
    return result;
}

KeyResult read_key(const Fields& fields, const KeySyntax& syntax)
{
    std::size_t found = 0;
    std::string_view value;
    for (const auto field : fields) {
        bool carries = same_name(field.name, syntax.header);
        for (const auto& alias : syntax.aliases)
            carries = carries || same_name(field.name, alias);
        if (!carries) continue;
        ++found;
        value = field.value;
    }
    if (found == 0) return KeyMissing{};
    if (found > 1) return KeyInvalid{"the key is given more than once"};
    return parse_key(value, syntax.length_max);
}

Digest key_digest(const KeyedHash& hash, const KeyScope& scope)
{
    LengthPrefixed message;
    message.add("onceward key 1").add(scope.vhost).add(scope.subject).add(scope.route_id);
    message.add(scope.method).add(scope.key);
    return {hash.sum(message.bytes())};
}

}  // namespace onceward::core
