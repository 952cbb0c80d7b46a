// Who may speak to the admin listener: programs on this machine, and no web page.
#pragma once

#include "ops/http_endpoint.hpp"

#include <optional>
#include <string_view>

namespace onceward {

// True for `localhost` and for every loopback address (127.0.0.0/8, ::1), given as an address: a
// name that only begins with 127. is none. `host` is without port; an IPv6 address may be in
// brackets.
bool is_loopback_host(std::string_view host);

// The refusal that the guards demand; absent when the request may be served. They stand against DNS
// rebinding (Host must name the loopback), against forms and scripts of other sites (Origin,
// Sec-Fetch-Site, and JSON only for POST), and against guesses about methods.
std::optional<SideResponse> refuse_foreign(const SideRequest& request);

// {"error":CODE,"message":MESSAGE} with the fields that every admin answer carries.
SideResponse admin_error(int status, std::string_view code, std::string_view message);

// A JSON answer with the fields that every admin answer carries.
SideResponse admin_json(int status, std::string body);

}  // namespace onceward
