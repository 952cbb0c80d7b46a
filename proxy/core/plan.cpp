// Planning a request from its head.
#include "core/plan.hpp"

#include <algorithm>

namespace onceward::core {

namespace {

bool is_override(std::string_view name)
{
    return std::any_of(method_override_names.begin(), method_override_names.end(),
                       [name](std::string_view other) { return same_name(name, other); });
}

std::vector<std::string_view> method_overrides(const Fields& fields)
{
    std::vector<std::string_view> values;
    for (const auto field : fields) {
        if (is_override(field.name)) values.push_back(field.value);
    }
    return values;
}

Reject reject(ProblemCode code, std::string_view detail, const Route& route)
{
    return {problem(code, detail), route.name};
}

PassThrough pass_through(const RouteTable& routes, std::string_view method, std::string_view target)
{
    auto route = routes.first(upper(method), target.substr(0, target.find('?')));
    if (!route) route = routes.first(upper(method), normalised_path(target));
    if (!route) return {};
    return {false, route->upstream, route->name};
}

}  // namespace

bool overrides_method(const Fields& fields)
{
    return !method_overrides(fields).empty();
}

Plan plan(const Policy& policy, std::string_view method, std::string_view target,
          const Fields& fields, bool peer_trusted)
{
    const auto overrides = method_overrides(fields);
    auto met = policy.routes.guarding(method, target, overrides);
    if (!met) return pass_through(policy.routes, method, target);
    const Route& route = *met->route;

    auto key = read_key(fields, policy.key);
    if (std::holds_alternative<KeyMissing>(key)) {
        if (route.when_missing == WhenMissing::pass)
            return PassThrough{true, route.upstream, route.name};
        return reject(ProblemCode::key_missing,
                      "send one key with this operation and repeat it on every retry", route);
    }
    if (const auto* invalid = std::get_if<KeyInvalid>(&key)) {
        return reject(ProblemCode::key_invalid, invalid->why, route);
    }
    auto subject = read_subject(fields, policy.subject, peer_trusted);
    if (const auto* missing = std::get_if<SubjectMissing>(&subject)) {
        return reject(ProblemCode::subject_missing, missing->why, route);
    }
    // With them, the method on the request line tells requests apart too: HEAD and GET that both
    // say POST are not one request.
    std::string said;
    if (!overrides.empty()) said.append(method).append("\n");
    for (const auto override_value : overrides)
        said.append(override_value).append("\n");
    return Guard{met->route, std::move(met->method), std::move(said),
                 std::get<std::string>(std::move(subject)), std::get<std::string>(std::move(key))};
}

}  // namespace onceward::core
