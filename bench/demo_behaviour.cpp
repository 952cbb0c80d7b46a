// Reading the X-Demo header and the --fail option.
#include "demo_behaviour.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace onceward::demo {

namespace {

constexpr std::chrono::milliseconds longest_delay = std::chrono::minutes{10};

template <typename Number>
std::optional<Number> parse_number(std::string_view text)
{
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return number;
}

std::optional<int> parse_status(std::string_view text)
{
    const auto status = parse_number<int>(text);
    if (!status || *status < 200 || *status > 599) return std::nullopt;
    return status;
}

std::optional<std::chrono::milliseconds> parse_delay(std::string_view text)
{
    if (text.ends_with("ms")) text.remove_suffix(2);
    const auto count = parse_number<std::int64_t>(text);
    if (!count || *count < 0 || *count > longest_delay.count()) return std::nullopt;
    return std::chrono::milliseconds{*count};
}

std::optional<Death> parse_death(std::string_view text)
{
    constexpr std::array<std::pair<std::string_view, Death>, 5> deaths{{
        {"before-charge", Death::before_charge},
        {"after-charge", Death::after_charge},
        {"mid-body", Death::mid_body},
        {"close-delimited", Death::close_delimited},
        {"exit", Death::process},
    }};
    for (const auto& [name, death] : deaths) {
        if (text == name) return death;
    }
    return std::nullopt;
}

// Sets one property from its text; false when the text is not understood.
template <typename Target, typename Value>
bool assign(Target& target, const std::optional<Value>& value)
{
    if (value) target = *value;
    return value.has_value();
}

bool apply(Behaviour& behaviour, std::string_view word)
{
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) return false;
    const auto name = word.substr(0, equals);
    const auto value = word.substr(equals + 1);
    if (name == "delay") return assign(behaviour.delay, parse_delay(value));
    if (name == "fail") return assign(behaviour.fail, parse_fail_mode(value));
    if (name == "status") return assign(behaviour.status, parse_status(value));
    if (name == "die") return assign(behaviour.death, parse_death(value));
    return false;
}

}  // namespace

std::optional<FailMode> parse_fail_mode(std::string_view text)
{
    const auto colon = text.find(':');
    const auto status = parse_status(text.substr(0, colon));
    if (!status) return std::nullopt;
    FailMode mode{*status, 1.0};
    if (colon == std::string_view::npos) return mode;
    const auto share = parse_number<double>(text.substr(colon + 1));
    if (!share || *share < 0.0 || *share > 1.0) return std::nullopt;
    mode.share = *share;
    return mode;
}

std::optional<Behaviour> directed(Behaviour base, std::string_view directives)
{
    while (!directives.empty()) {
        const auto comma = directives.find(',');
        auto word = directives.substr(0, comma);
        directives = comma == std::string_view::npos ? "" : directives.substr(comma + 1);
        while (word.starts_with(' '))
            word.remove_prefix(1);
        while (word.ends_with(' '))
            word.remove_suffix(1);
        if (!word.empty() && !apply(base, word)) return std::nullopt;
    }
    return base;
}

}  // namespace onceward::demo
