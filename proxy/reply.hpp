// What an exchange gives back to its client's session.
#pragma once

#include "core/message.hpp"
#include "core/problem.hpp"
#include "ports/observer.hpp"
#include "ports/upstream.hpp"

#include <memory>
#include <optional>
#include <variant>

namespace onceward {

// Idempotent-Stored: absent, `false` (OUT-3, decision 16) or `status-only` (decision 15).
enum class StoredMark : std::uint8_t { none, no, status_only };

// What our own header fields say about an answer (decision 14).
struct Marks {
    bool kept = false;      // Comes from the store: Cache-Control: no-store (RPL-6).
    bool replayed = false;  // Idempotent-Replayed: true
    std::optional<core::StoreTime> original_date;  // Idempotent-Original-Date
    std::optional<bool> retryable;                 // Idempotent-Retryable
    StoredMark stored = StoredMark::none;          // Idempotent-Stored
    bool bypassed = false;                         // Idempotency-Status: bypassed
};

struct Reply {
    std::variant<core::Response, core::Problem> content;
    Marks marks;
    // Present when the body goes on after `content`'s: it must be read to its end even if the
    // client has left, because reading its end is what records the outcome.
    std::unique_ptr<BodyStream> rest;
    ExchangeReport report;  // For the access log; not final while `rest` is there.
};

}  // namespace onceward
