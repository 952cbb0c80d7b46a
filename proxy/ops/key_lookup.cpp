// Naming a key as its client did.
#include "ops/key_lookup.hpp"

namespace onceward {

namespace {

std::shared_ptr<const core::Route> find_route(const core::RouteTable& routes, std::string_view name)
{
    for (const auto& route : routes.routes()) {
        if (route->name == name || route->id == name) return route;
    }
    return nullptr;
}

std::string all_names(const core::RouteTable& routes)
{
    std::string names;
    for (const auto& route : routes.routes())
        names.append(names.empty() ? "" : ", ").append(route->name);
    return names;
}

// A key that begins with a quote is written as in the header; any other is taken as it is, so that
// a key with blanks needs no quoting twice.
core::KeyResult key_of(const core::KeySyntax& syntax, const std::string& text)
{
    if (text.starts_with('"')) return core::parse_key(text, syntax.length_max);
    if (text.empty()) return core::KeyInvalid{"the key is empty"};
    if (text.size() > syntax.length_max) return core::KeyInvalid{"the key is too long"};
    return text;
}

core::SubjectResult subject_of(const core::SubjectRule& rule, const std::string& text)
{
    core::Fields fields;
    if (!text.empty() && !fields.add(rule.header, text)) {
        return core::SubjectMissing{"the subject is not a field value"};
    }
    return core::read_subject(fields, rule, true);
}

}  // namespace

std::variant<KeyNames, BadQuestion> name_key(const core::Policy& policy,
                                             const core::KeyedHash& key_hash,
                                             const KeyQuestion& question)
{
    KeyNames names;
    names.route = find_route(policy.routes, question.route);
    if (!names.route)
        return BadQuestion{"no route has this name; there are: " + all_names(policy.routes)};
    const auto key = key_of(policy.key, question.key);
    if (const auto* invalid = std::get_if<core::KeyInvalid>(&key))
        return BadQuestion{std::string(invalid->why)};
    if (question.subject.empty() && policy.subject.kind != core::SubjectKind::shared) {
        return BadQuestion{"the subject is missing: say whose key it is, as " +
                           policy.subject.header + " said it"};
    }
    const auto subject = subject_of(policy.subject, question.subject);
    if (const auto* missing = std::get_if<core::SubjectMissing>(&subject)) {
        return BadQuestion{std::string(missing->why)};
    }
    std::vector<std::string> methods = names.route->match.methods;
    if (!question.method.empty()) methods = {core::upper(question.method)};
    if (methods.empty()) return BadQuestion{"the route takes every method: say which one"};
    for (auto& method : methods) {
        core::KeyScope scope;
        scope.subject = std::get<std::string>(subject);
        scope.route_id = names.route->id;
        scope.method = method;
        scope.key = std::get<std::string>(key);
        const auto digest = core::key_digest(key_hash, scope);
        names.candidates.push_back({digest, std::move(method)});
    }
    return names;
}

awaitable<StoreResult<std::optional<FoundKey>>> find_key(KeyStore& store,
                                                         std::vector<KeyCandidate> candidates)
{
    for (auto& candidate : candidates) {
        auto found = co_await store.find(candidate.digest);
        if (!found) co_return found.error();
        std::optional<core::Record>& record = *found;
        if (record)
            co_return std::optional<FoundKey>(FoundKey{std::move(candidate), std::move(*record)});
    }
    co_return std::optional<FoundKey>();
}

}  // namespace onceward
