// Rewriting a request's fields for the upstream.
#include "http/forwarding.hpp"

#include <algorithm>
#include <array>

namespace onceward {

namespace {

constexpr std::array<std::string_view, 3> remade{"Content-Length", "Expect", "Host"};
constexpr std::array<std::string_view, 4> forwarding_names{"Forwarded", "X-Forwarded-For",
                                                           "X-Forwarded-Proto", "X-Forwarded-Host"};
constexpr std::array<std::string_view, 8> imitated{
    "Authorization", "Connection",        "Content-Length",  "Content-Type",
    "Host",          "Transfer-Encoding", "X-Forwarded-For", "Forwarded"};

template <class Names>
bool contains(const Names& names, std::string_view name)
{
    return std::any_of(names.begin(), names.end(),
                       [name](std::string_view other) { return core::same_name(name, other); });
}

// CGI and WSGI upstreams read `Idempotency_Key` and `Idempotency-Key` as one variable.
bool imitates_guarded(std::string_view name, const EdgePolicy& policy)
{
    if (name.find('_') == std::string_view::npos) return false;
    std::string folded(name);
    std::replace(folded.begin(), folded.end(), '_', '-');
    return contains(policy.guarded_names, folded) || contains(imitated, folded) ||
           contains(forwarding_names, folded) || contains(core::method_override_names, folded);
}

bool is_spoofed_subject(std::string_view name, const Peer& peer, const EdgePolicy& policy)
{
    const auto& rule = policy.plan.subject;
    return rule.kind == core::SubjectKind::trusted_header && !peer.trusted &&
           core::same_name(name, rule.header);
}

// RFC 7239 section 6: an IPv6 address is bracketed and quoted.
std::string node_of(const boost::asio::ip::address& address)
{
    if (address.is_v6()) return "\"[" + address.to_string() + "]\"";
    return address.to_string();
}

std::string joined(const core::Fields& fields, std::string_view name)
{
    std::string all;
    for (const auto field : fields) {
        if (!core::same_name(field.name, name) || field.value.empty()) continue;
        if (!all.empty()) all.append(", ");
        all.append(field.value);
    }
    return all;
}

std::string extended(std::string before, std::string_view added)
{
    if (!before.empty()) before.append(", ");
    return before.append(added);
}

void add_forwarding(core::Fields& fields, const wire::RequestHead& head, const Peer& peer)
{
    const auto before = [&](std::string_view name) {
        return peer.trusted ? joined(head.fields, name) : std::string();
    };
    std::string forwarded = "for=" + node_of(peer.address) + ";proto=http";
    if (!head.host.empty()) forwarded += ";host=\"" + head.host + "\"";
    fields.add("Forwarded", extended(before("Forwarded"), forwarded));
    fields.add("X-Forwarded-For", extended(before("X-Forwarded-For"), peer.address.to_string()));
    const auto proto = before("X-Forwarded-Proto");
    fields.add("X-Forwarded-Proto", proto.empty() ? "http" : proto);
    const auto host = before("X-Forwarded-Host");
    if (!host.empty() || !head.host.empty())
        fields.add("X-Forwarded-Host", host.empty() ? head.host : host);
}

}  // namespace

std::vector<std::string> guarded_names_of(const core::Policy& policy)
{
    std::vector<std::string> names{policy.key.header};
    names.insert(names.end(), policy.key.aliases.begin(), policy.key.aliases.end());
    if (policy.subject.kind != core::SubjectKind::shared) names.push_back(policy.subject.header);
    return names;
}

Forwarded forwarded_fields(const wire::RequestHead& head, const Peer& peer,
                           const EdgePolicy& policy, const Origin& origin)
{
    Forwarded made;
    auto& fields = made.fields;
    fields.reserve(head.fields.encoded().size() + 512);
    fields.add("Host", head.host.empty() ? origin.authority() : head.host);
    for (const auto field : head.fields) {
        const bool remakes = wire::is_hop_by_hop(field.name) ||
                             contains(head.nominated, field.name) || contains(remade, field.name) ||
                             contains(forwarding_names, field.name);
        if (remakes) continue;
        if (imitates_guarded(field.name, policy) || is_spoofed_subject(field.name, peer, policy)) {
            ++made.dropped;
        } else {
            fields.add(field.name, field.value);
        }
    }
    add_forwarding(fields, head, peer);
    if (!policy.via.empty()) {
        const auto before = joined(head.fields, "Via");
        fields.remove("Via");
        fields.add("Via", extended(before, "1." + std::to_string(head.minor) + " " + policy.via));
    }
    return made;
}

bool is_loop(const core::Fields& fields, std::string_view pseudonym)
{
    if (pseudonym.empty()) return false;
    const auto hops = wire::list_members(fields, "Via");
    return std::any_of(hops.begin(), hops.end(), [pseudonym](const std::string& hop) {
        const auto blank = hop.find(' ');
        const auto by = blank == std::string::npos ? std::string_view{}
                                                   : std::string_view(hop).substr(blank + 1);
        return core::same_name(by.substr(0, by.find(' ')), pseudonym);
    });
}

}  // namespace onceward
