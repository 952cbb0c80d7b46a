// `server`: the proxy's own listener, limits and deadlines.
#include "settings/sections.hpp"

#include <array>

namespace onceward {

namespace {

constexpr std::uint64_t kib = 1 << 10;
constexpr std::uint64_t gib = 1 << 30;
constexpr Bounds head_bounds{kib, 64 * kib};
constexpr Bounds body_bounds{1, gib};

using enum Overridable;

void read_trusted_proxies(Reader& reader, const Node& node, Draft& draft)
{
    for (const auto* item : reader.items(node)) {
        std::string text;
        if (!reader.text(*item, text)) continue;
        auto parsed = parse_network(text);
        if (const auto* reason = std::get_if<Misread>(&parsed)) {
            reader.misread(*item, *reason);
        } else {
            draft.settings.server.trusted_proxies.push_back(std::get<Network>(std::move(parsed)));
        }
    }
}

void read_upstream(Reader& reader, const Node& node, Draft& draft)
{
    UpstreamUrl url;
    draft.upstream_stated = true;
    if (reader.upstream(node, url)) draft.upstream = std::move(url);
}

// The pseudonym of RFC 9110 section 7.6.3: a token, or a host with a port.
void read_via(Reader& reader, const Node& node, Draft& draft)
{
    std::string text;
    if (!reader.text(node, text)) return;
    const auto colon = text.find(':');
    const bool host_and_port = colon != std::string::npos && is_token(text.substr(0, colon)) &&
                               is_token(text.substr(colon + 1));
    if (!is_token(text) && !host_and_port) {
        reader.misread(node, {codes::text, "is not a name for the Via field: `" + text + "`",
                              "one word, such as `onceward`"});
        return;
    }
    draft.settings.server.via = std::move(text);
}

constexpr std::array drain_fields{
    Field<Draft>{"delay",
                 [](Reader& r, const Node& n, Draft& d) {
                     r.duration(n, d.settings.server.drain_delay, Zero::allowed);
                 },
                 yes},
    Field<Draft>{
        "timeout",
        [](Reader& r, const Node& n, Draft& d) { r.duration(n, d.settings.server.drain_timeout); },
        yes},
};
constexpr Section<Draft> drain_section{"server.drain", drain_fields};

constexpr std::array server_fields{
    Field<Draft>{"listen",
                 [](Reader& r, const Node& n, Draft& d) { r.listen(n, d.settings.server.listen); },
                 yes},
    Field<Draft>{"upstream", read_upstream, yes},
    Field<Draft>{"workers",
                 [](Reader& r, const Node& n, Draft& d) {
                     r.number(n, d.settings.server.workers, Bounds{0, 1'024});
                 },
                 yes},
    Field<Draft>{"max_request_body",
                 [](Reader& r, const Node& n, Draft& d) {
                     r.size(n, d.settings.server.request_body_max, body_bounds);
                 },
                 yes},
    Field<Draft>{"max_stored_response",
                 [](Reader& r, const Node& n, Draft& d) {
                     r.size(n, d.settings.server.stored_response_max, body_bounds);
                 },
                 yes},
    Field<Draft>{"max_request_head",
                 [](Reader& r, const Node& n, Draft& d) {
                     r.size(n, d.settings.server.request_head_max, head_bounds);
                 },
                 yes},
    Field<Draft>{"max_connections",
                 [](Reader& r, const Node& n, Draft& d) {
                     r.number(n, d.settings.server.connections_max, Bounds{1, 1'000'000});
                 },
                 yes},
    Field<Draft>{"max_waiters",
                 [](Reader& r, const Node& n, Draft& d) {
                     r.number(n, d.settings.waiters_max, Bounds{0, 1'000'000});
                 },
                 yes},
    Field<Draft>{"trusted_proxies", read_trusted_proxies},
    Field<Draft>{
        "timeout",
        [](Reader& r, const Node& n, Draft& d) { r.duration(n, d.settings.server.timeout); }, yes},
    Field<Draft>{
        "head_timeout",
        [](Reader& r, const Node& n, Draft& d) { r.duration(n, d.settings.server.head_timeout); },
        yes},
    Field<Draft>{
        "body_timeout",
        [](Reader& r, const Node& n, Draft& d) { r.duration(n, d.settings.server.body_timeout); },
        yes},
    Field<Draft>{
        "idle_timeout",
        [](Reader& r, const Node& n, Draft& d) { r.duration(n, d.settings.server.idle_timeout); },
        yes},
    Field<Draft>{"upstream_idle",
                 [](Reader& r, const Node& n, Draft& d) {
                     r.duration(n, d.settings.server.upstream_idle, Zero::allowed);
                 },
                 yes},
    Field<Draft>{"drain",
                 [](Reader& r, const Node& n, Draft& d) { read_section(r, &n, drain_section, d); }},
    Field<Draft>{"via", read_via, yes},
};
constexpr Section<Draft> server_section{"server", server_fields};

}  // namespace

void read_server(Reader& reader, const Node* node, Draft& draft)
{
    read_section(reader, node, server_section, draft);
    const bool drain_in_file =
        node != nullptr && node->kind == NodeKind::mapping && find_entry(*node, "drain") != nullptr;
    if (drain_in_file) return;
    const Reader::Step drain(reader, "drain");
    read_section(reader, nullptr, drain_section, draft);
}

void add_server_names(std::vector<SectionNames>& all)
{
    all.push_back(names_of(server_section));
    all.push_back(names_of(drain_section));
}

}  // namespace onceward
