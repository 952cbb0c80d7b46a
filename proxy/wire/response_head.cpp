// The strict check of an upstream's response head.
#include "wire/head_lines.hpp"

namespace onceward::wire {

namespace {

constexpr std::size_t response_fields_max = 200;

Violation bad(std::string_view why)
{
    return Violation{.why = why};
}

// Joins folded lines by blanks of the same length, so that nothing else moves (RFC 9112
// section 5.2).
std::string unfolded(std::string_view raw)
{
    std::string text(raw);
    for (auto at = text.find("\r\n"); at != std::string::npos; at = text.find("\r\n", at + 2)) {
        const bool folds = at + 2 < text.size() && (text[at + 2] == ' ' || text[at + 2] == '\t');
        if (!folds) continue;
        text[at] = ' ';
        text[at + 1] = ' ';
    }
    return text;
}

// HTTP/1.x SP 3DIGIT [SP reason]. Some old servers leave out the blank of an empty reason; the
// status is clear all the same.
std::optional<Violation> read_status_line(std::string_view line, ResponseHead& head)
{
    constexpr std::size_t version_size = 8;
    const auto minor = http_minor(line.substr(0, version_size));
    if (!minor || line.size() < version_size + 4 || line[version_size] != ' ') {
        return bad("the status line is malformed");
    }
    const auto status = decimal(line.substr(version_size + 1, 3));
    const auto rest = line.substr(version_size + 4);
    if (!status || (!rest.empty() && rest.front() != ' ') || !core::is_field_value(rest)) {
        return bad("the status line is malformed");
    }
    if (*status < 100 || *status > 599) return bad("the status is not between 100 and 599");
    head.minor = *minor;
    head.status = static_cast<int>(*status);
    head.reason = rest.empty() ? std::string_view{} : rest.substr(1);
    return std::nullopt;
}

std::optional<Violation> read_transfer_encoding(ResponseHead& head)
{
    const bool single = head.fields.count("Transfer-Encoding") == 1;
    if (!single ||
        !core::same_name(head.fields.find("Transfer-Encoding").value_or(""), "chunked")) {
        return bad("the transfer coding is not exactly `chunked`");
    }
    if (head.fields.has("Content-Length"))
        return bad("there are both Transfer-Encoding and Content-Length");
    if (head.minor == 0) return bad("HTTP/1.0 has no Transfer-Encoding");
    head.framing = Framing::chunked;
    return std::nullopt;
}

std::optional<Violation> read_length(ResponseHead& head)
{
    std::optional<std::uint64_t> length;
    for (const auto field : head.fields) {
        if (!core::same_name(field.name, "Content-Length")) continue;
        const auto value = decimal(field.value);
        if (!value || (length && *length != *value))
            return bad("Content-Length is not one decimal number");
        length = value;
    }
    head.framing = length ? Framing::length : Framing::until_close;
    head.length = length.value_or(0);
    return std::nullopt;
}

// RFC 9112 section 6.3, rules 1 to 8.
std::optional<Violation> read_framing(ResponseHead& head, std::string_view request_method)
{
    const auto violation =
        head.fields.has("Transfer-Encoding") ? read_transfer_encoding(head) : read_length(head);
    if (violation) return violation;
    const bool bodiless = head.status < 200 || head.status == 204 || head.status == 304;
    if (bodiless || request_method == "HEAD") head.framing = Framing::none;
    if (head.framing == Framing::length && head.length == 0) head.framing = Framing::none;
    return std::nullopt;
}

}  // namespace

std::variant<ResponseHead, Violation> check_response_head(std::string_view raw,
                                                          std::string_view request_method)
{
    ResponseHead head;
    const auto text = unfolded(raw);
    const auto start = take_line(text);
    if (!start) return bad("the status line does not end with CRLF");
    if (auto violation = read_status_line(start->line, head)) return *violation;
    if (auto violation =
            read_fields(start->rest, FieldSyntax::mended, response_fields_max, head.fields)) {
        return *violation;
    }
    if (auto violation = read_framing(head, request_method)) return *violation;

    head.nominated = list_members(head.fields, "Connection");
    const bool close = lists(head.nominated, "close");
    head.keep_alive = head.minor == 1 ? !close : !close && lists(head.nominated, "keep-alive");
    if (head.framing == Framing::until_close) head.keep_alive = false;
    return head;
}

}  // namespace onceward::wire
