// Same key, same request? A keyed digest of what the upstream would be asked to do.
#pragma once

#include "core/message.hpp"
#include "core/secret.hpp"

#include <cstdint>
#include <string_view>

namespace onceward::core {

// The numbers are stored with each record; a record is judged by its own rule (FPR-10).
enum class FingerprintRule : std::uint16_t { raw = 1 };

// type/subtype in lower case, without parameters or blanks (FPR-3).
std::string media_type(std::string_view content_type);

// FPR-1 under rule `raw`: method, path, query, media type, Content-Encoding and the body's bytes.
// Credentials, dates, trace ids, forwarding and framing fields and the key itself are left out
// (FPR-8). `method` is the effective one: what the upstream will do, not how the client spelled it;
// `overrides`, what method-override fields say: an upstream that obeys them does something else
// with and without them.
Fingerprint raw_fingerprint(const KeyedHash& hash, std::string_view method, const Request& request,
                            std::string_view overrides = {});

}  // namespace onceward::core
