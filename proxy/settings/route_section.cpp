// `routes`: which requests are guarded, and how.
#include "settings/path_regex.hpp"
#include "settings/sections.hpp"

#include <array>

namespace onceward {

namespace {

constexpr Bounds body_bounds{1, 1 << 30};

void keep(Written& written, const Node& node, std::string text, bool valid)
{
    written = {node.place, std::move(text), valid};
}

// --- match ---

void read_methods(Reader& reader, const Node& node, RouteDraft& draft)
{
    constexpr std::array<std::string_view, 6> unguardable{"GET",   "HEAD",    "OPTIONS",
                                                          "TRACE", "CONNECT", "PRI"};
    draft.route.match.methods.clear();
    const auto items = reader.items(node);
    for (const auto* item : items) {
        std::string method;
        if (!reader.text(*item, method)) continue;
        const auto capital = core::upper(method);
        if (std::find(unguardable.begin(), unguardable.end(), capital) != unguardable.end()) {
            reader
                .error(codes::unguardable_method, *item, "method " + capital + " cannot be guarded")
                .caret = "it is safe by definition and passes through untouched";
        } else if (!is_token(method) || capital != method) {
            reader.error(codes::word, *item, "`" + method + "` is not a method").caret =
                "methods are upper case: did you mean `" + capital + "`?";
        } else {
            draft.route.match.methods.push_back(method);
        }
    }
    if (items.empty() && node.kind == NodeKind::list) {
        reader.error(codes::required, node, reader.path() + " lists no method").caret =
            "leave it out for POST";
    }
}

// Two matchers in one `match` are one too many.
bool only_path(Reader& reader, const Node& node, const RouteDraft& draft)
{
    if (draft.route.match.kind == core::PathMatch::any) return true;
    reader
        .error(codes::several_paths, node,
               "a route matches by one of path, path_prefix and path_regex")
        .caret = "the second one";
    return false;
}

// Requests are matched as sent and in normal form, so a path in any other form would miss its
// variants.
void read_path(Reader& reader, const Node& node, RouteDraft& draft, core::PathMatch kind)
{
    std::string path;
    if (!only_path(reader, node, draft) || !reader.text(node, path)) return;
    draft.route.match.kind = kind;
    draft.route.match.path = path;
    if (!path.starts_with('/') || path.find_first_of("?#") != std::string::npos) {
        reader.misread(node, {codes::path, "is not a path: `" + path + "`",
                              "it begins with `/` and has no query"});
        return;
    }
    const auto normal = core::normalised_path(path);
    if (normal != path) {
        reader.misread(node, {codes::path, "is not in normal form: `" + path + "`",
                              "write `" + normal + "`, which also meets `" + path + "`"});
    }
}

void read_path_regex(Reader& reader, const Node& node, RouteDraft& draft)
{
    std::string expression;
    if (!only_path(reader, node, draft) || !reader.text(node, expression)) return;
    draft.route.match.kind = core::PathMatch::regex;
    draft.route.match.path = expression;
    auto made = make_path_predicate(expression);
    if (const auto* problem = std::get_if<std::string>(&made)) {
        reader.error(codes::path_regex, node, reader.path() + " is not a regular expression")
            .caret = *problem;
        return;
    }
    draft.route.match.matches = std::get<PathPredicate>(std::move(made));
}

constexpr std::array match_fields{
    Field<RouteDraft>{"method", read_methods},
    Field<RouteDraft>{"path", [](Reader& r, const Node& n,
                                 RouteDraft& d) { read_path(r, n, d, core::PathMatch::exact); }},
    Field<RouteDraft>{"path_prefix",
                      [](Reader& r, const Node& n, RouteDraft& d) {
                          read_path(r, n, d, core::PathMatch::prefix);
                      }},
    Field<RouteDraft>{"path_regex", read_path_regex},
};
constexpr Section<RouteDraft> match_section{"routes[].match", match_fields};

constexpr std::array waiting_fields{
    Field<RouteDraft>{"wait",
                      [](Reader& r, const Node& n, RouteDraft& d) {
                          r.duration(n, d.route.in_progress_wait, Zero::allowed);
                      }},
};
constexpr Section<RouteDraft> waiting_section{"routes[].in_progress", waiting_fields};

// --- names ---

void read_plain_name(Reader& reader, const Node& node, std::string& target, Written& written)
{
    std::string text;
    if (!reader.text(node, text)) return;
    const bool valid = is_plain_name(text);
    if (!valid) {
        reader.error(codes::name, node, "`" + text + "` is not a name").caret =
            "1 to 64 letters, digits, `_`, `-`, `.`";
    }
    target = text;
    keep(written, node, std::move(text), valid);
}

void read_mode(Reader& reader, const Node& node, RouteDraft& draft)
{
    using enum core::Mode;
    const bool valid = reader.word<core::Mode>(
        node, draft.route.mode, {{"off", off}, {"observe", observe}, {"enforce", enforce}});
    if (!valid || draft.route.mode != observe) return;
    const std::string instead = "runs as `off`: its requests pass through unguarded";
    auto& diagnostic = reader.warning(codes::observe_is_off, node.place, reader.path(),
                                      reader.path() + ": `observe` is not built yet");
    diagnostic.caret = instead;
    reader.unbuilt_settings().push_back({reader.path(), instead, false});
}

// --- where the key comes from, what it is bound to ---

// Every other source than the header would leave the route's requests without a key: the rules
// across fields decide what that means.
void read_key_source(Reader&, const Node& node, RouteDraft& draft)
{
    if (node.kind == NodeKind::scalar && node.text == "header") return;
    draft.key_source = node.place;
}

enum class Comparison : std::uint8_t { raw, other };

void read_comparison(Reader& reader, const Node& node, RouteDraft&)
{
    Comparison type = Comparison::raw;
    const bool valid = reader.word<Comparison>(
        node, type,
        {{"raw", Comparison::raw}, {"json", Comparison::other}, {"none", Comparison::other}});
    if (valid && type == Comparison::other) {
        reader.unbuilt(node.place, "bodies are compared byte by byte (`raw`)");
    }
}

constexpr std::array fingerprint_fields{
    Field<RouteDraft>{"type", read_comparison},
    unbuilt_field<RouteDraft>("ignore", "every byte of the body counts"),
};
constexpr Section<RouteDraft> fingerprint_section{"routes[].fingerprint", fingerprint_fields};

void read_fingerprint(Reader& reader, const Node& node, RouteDraft& draft)
{
    if (node.kind == NodeKind::scalar) {
        read_comparison(reader, node, draft);
    } else {
        read_section(reader, &node, fingerprint_section, draft);
    }
}

void read_percent(Reader& reader, const Node& node, RouteDraft&)
{
    int percent = 100;
    const bool part = reader.number(node, percent, Bounds{0, 100}) && percent != 100;
    if (part) reader.unbuilt(node.place, "every keyed request of the route is guarded");
}

void read_on_failed(Reader& reader, const Node& node, RouteDraft&)
{
    bool reopen = false;
    const bool valid = reader.word<bool>(node, reopen, {{"final", false}, {"reopen", true}});
    if (valid && reopen) reader.unbuilt(node.place, "a recorded failure is final");
}

void read_replay_headers(Reader& reader, const Node& node, RouteDraft& draft)
{
    for (const auto* item : reader.items(node)) {
        std::string name;
        if (reader.header_name(*item, name)) draft.route.replay_headers.push_back(std::move(name));
    }
}

void read_route_upstream(Reader& reader, const Node& node, RouteDraft& draft)
{
    UpstreamUrl url;
    if (reader.upstream(node, url)) draft.upstream = std::move(url);
}

void read_limit(Reader& reader, const Node& node, std::optional<std::size_t>& target)
{
    std::size_t bytes = 0;
    if (reader.size(node, bytes, body_bounds)) target = bytes;
}

constexpr std::array route_fields{
    Field<RouteDraft>{"name", [](Reader& r, const Node& n,
                                 RouteDraft& d) { read_plain_name(r, n, d.route.name, d.name); }},
    Field<RouteDraft>{"id", [](Reader& r, const Node& n,
                               RouteDraft& d) { read_plain_name(r, n, d.route.id, d.id); }},
    Field<RouteDraft>{"match", [](Reader& r, const Node& n,
                                  RouteDraft& d) { read_section(r, &n, match_section, d); }},
    Field<RouteDraft>{"tier",
                      [](Reader& r, const Node& n, RouteDraft& d) {
                          std::string tier;
                          const bool valid = r.text(n, tier);
                          keep(d.tier, n, tier, valid);
                      }},
    Field<RouteDraft>{"mode", read_mode},
    Field<RouteDraft>{"when_missing",
                      [](Reader& r, const Node& n, RouteDraft& d) {
                          using enum core::WhenMissing;
                          r.word<core::WhenMissing>(n, d.route.when_missing,
                                                    {{"reject", reject}, {"pass", pass}});
                      }},
    Field<RouteDraft>{"timeout",
                      [](Reader& r, const Node& n, RouteDraft& d) {
                          const bool valid = r.duration(n, d.route.timeout);
                          keep(d.timeout, n, n.text, valid);
                      }},
    Field<RouteDraft>{
        "in_progress",
        [](Reader& r, const Node& n, RouteDraft& d) { read_section(r, &n, waiting_section, d); }},
    Field<RouteDraft>{"outcomes", [](Reader& r, const Node& n,
                                     RouteDraft& d) { read_outcomes(r, n, d.outcomes); }},
    Field<RouteDraft>{"close_delimited",
                      [](Reader& r, const Node& n, RouteDraft& d) {
                          using enum core::CloseDelimited;
                          r.word<core::CloseDelimited>(n, d.route.close_delimited,
                                                       {{"unknown", unknown}, {"accept", accept}});
                      }},
    Field<RouteDraft>{"complete_if",
                      [](Reader& r, const Node& n, RouteDraft& d) {
                          using enum core::CompleteIf;
                          r.word<core::CompleteIf>(n, d.route.complete_if,
                                                   {{"json", json}, {"xml", xml}, {"any", any}});
                      }},
    Field<RouteDraft>{
        "max_request_body",
        [](Reader& r, const Node& n, RouteDraft& d) { read_limit(r, n, d.request_body_max); }},
    Field<RouteDraft>{
        "max_stored_response",
        [](Reader& r, const Node& n, RouteDraft& d) { read_limit(r, n, d.stored_response_max); }},
    Field<RouteDraft>{"replay_headers", read_replay_headers},
    Field<RouteDraft>{"upstream", read_route_upstream},
    Field<RouteDraft>{"key", read_key_source},
    Field<RouteDraft>{"key_from_body", read_key_source},
    Field<RouteDraft>{"fingerprint", read_fingerprint},
    Field<RouteDraft>{"enforce_percent", read_percent},
    unbuilt_field<RouteDraft>("client_wait", "the client waits up to `timeout`"),
    Field<RouteDraft>{"on_failed", read_on_failed},
};
constexpr Section<RouteDraft> route_section{"routes[]", route_fields};

// routes.charges where the name is usable, else routes[0].
std::string step_of(const Node& node, std::size_t index)
{
    const auto* name = node.kind == NodeKind::mapping ? find_entry(node, "name") : nullptr;
    const bool usable =
        name != nullptr && name->value.kind == NodeKind::scalar && is_plain_name(name->value.text);
    return usable ? name->value.text : "[" + std::to_string(index) + "]";
}

void read_route(Reader& reader, const Node& node, std::size_t index, Draft& draft)
{
    const Reader::Step step(reader, step_of(node, index));
    RouteDraft route;
    route.route.match.methods = {"POST"};
    route.place = node.place;
    route.path = reader.path();
    read_section(reader, &node, route_section, route);
    if (route.name.place.line > 0) route.place = route.name.place;
    const bool nameless = node.kind == NodeKind::mapping && find_entry(node, "name") == nullptr;
    if (nameless) {
        reader.error(codes::required, node.place, route.path, route.path + ".name is required")
            .caret = "logs and metrics call the route by it";
    }
    if (route.id.place.line == 0) route.route.id = route.route.name;
    draft.routes.push_back(std::move(route));
}

}  // namespace

void read_routes(Reader& reader, const Node& node, Draft& draft)
{
    draft.routes_stated = true;
    if (node.kind != NodeKind::list) {
        reader.error(codes::wrong_shape, node, "routes must be a list").caret =
            "each route begins with `- name:`";
        return;
    }
    for (std::size_t index = 0; index < node.items.size(); ++index) {
        read_route(reader, node.items[index], index, draft);
    }
}

void add_route_names(std::vector<SectionNames>& all)
{
    all.push_back(names_of(route_section));
    all.push_back(names_of(match_section));
    all.push_back(names_of(waiting_section));
    all.push_back(names_of(fingerprint_section));
}

}  // namespace onceward
