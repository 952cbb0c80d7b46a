// The fields that go on to the upstream.
#pragma once

#include "http/edge.hpp"

#include <boost/asio/ip/address.hpp>

namespace onceward {

struct Peer {
    boost::asio::ip::address address;
    bool trusted = false;
};

// End-to-end fields in the client's order, without framing and expectations; then Host, Forwarded
// and X-Forwarded-* (replaced for an untrusted peer, extended for a trusted one, HTP-19) and Via
// when configured. Left out besides: fields whose name imitates a guarded one by underscores
// (APP-6), and the subject's field when it came from an untrusted peer under a trusted-header
// subject (SCP-4).
struct Forwarded {
    core::Fields fields;
    std::size_t dropped = 0;  // Fields left out though they are end-to-end: worth counting.
};
Forwarded forwarded_fields(const wire::RequestHead& head, const Peer& peer,
                           const EdgePolicy& policy, const Origin& origin);

// True when our own Via pseudonym is there already: the request came back to us (HTP-9).
bool is_loop(const core::Fields& fields, std::string_view pseudonym);

}  // namespace onceward
