// Lines and fields of a head.
#include "wire/head_lines.hpp"

#include <algorithm>
#include <array>

namespace onceward::wire {

namespace {

constexpr std::size_t name_max = 256;

constexpr std::array<std::string_view, 9> hop_by_hop_names{"Connection",
                                                           "Keep-Alive",
                                                           "Proxy-Connection",
                                                           "Proxy-Authenticate",
                                                           "Proxy-Authorization",
                                                           "TE",
                                                           "Trailer",
                                                           "Transfer-Encoding",
                                                           "Upgrade"};

std::optional<Violation> read_field(std::string_view line, FieldSyntax syntax, core::Fields& fields)
{
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return Violation{.why = "a field line has no colon"};
    auto name = line.substr(0, colon);
    if (syntax == FieldSyntax::mended) {
        while (!name.empty() && (name.back() == ' ' || name.back() == '\t'))
            name.remove_suffix(1);
    }
    if (!core::is_token(name)) return Violation{.why = "a field name is malformed"};
    if (name.size() > name_max) {
        return Violation{core::ProblemCode::head_too_large, "a field name is too long"};
    }
    if (!fields.add(name, trimmed(line.substr(colon + 1)))) {
        return Violation{.why = "a field value contains a control character"};
    }
    return std::nullopt;
}

}  // namespace

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<Line> take_line(std::string_view text)
{
    const auto end = text.find("\r\n");
    if (end == std::string_view::npos) return std::nullopt;
    return Line{text.substr(0, end), text.substr(end + 2)};
}

std::optional<int> http_minor(std::string_view version)
{
    if (version == "HTTP/1.1") return 1;
    if (version == "HTTP/1.0") return 0;
    return std::nullopt;
}

std::optional<std::uint64_t> decimal(std::string_view text)
{
    constexpr std::size_t digits_max = 18;  // Any 18 digits fit.
    if (text.empty() || text.size() > digits_max) return std::nullopt;
    std::uint64_t value = 0;
    for (char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return value;
}

std::optional<Violation> read_fields(std::string_view lines, FieldSyntax syntax,
                                     std::size_t fields_max, core::Fields& fields)
{
    fields.reserve(lines.size() + 256);
    std::size_t count = 0;
    for (;;) {
        const auto taken = take_line(lines);
        if (!taken) return Violation{.why = "a line does not end with CRLF"};
        if (taken->line.empty()) return std::nullopt;
        if (taken->line.front() == ' ' || taken->line.front() == '\t') {
            return Violation{.why = "a field is folded over several lines"};
        }
        if (++count > fields_max) {
            return Violation{core::ProblemCode::head_too_large, "the head has too many fields"};
        }
        if (auto violation = read_field(taken->line, syntax, fields)) return violation;
        lines = taken->rest;
    }
}

std::vector<std::string> list_members(const core::Fields& fields, std::string_view name)
{
    std::vector<std::string> members;
    for (const auto field : fields) {
        if (!core::same_name(field.name, name)) continue;
        auto rest = field.value;
        while (!rest.empty()) {
            const auto comma = rest.find(',');
            const auto member = trimmed(rest.substr(0, comma));
            if (!member.empty()) members.emplace_back(member);
            rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
        }
    }
    return members;
}

bool lists(const std::vector<std::string>& members, std::string_view option)
{
    return std::any_of(members.begin(), members.end(),
                       [option](const auto& member) { return core::same_name(member, option); });
}

bool is_hop_by_hop(std::string_view name)
{
    return std::any_of(hop_by_hop_names.begin(), hop_by_hop_names.end(),
                       [name](std::string_view other) { return core::same_name(name, other); });
}

core::Fields end_to_end(const core::Fields& fields, const std::vector<std::string>& nominated)
{
    core::Fields kept;
    kept.reserve(fields.encoded().size() + 256);
    for (const auto field : fields) {
        if (!is_hop_by_hop(field.name) && !lists(nominated, field.name))
            kept.add(field.name, field.value);
    }
    return kept;
}

}  // namespace onceward::wire
