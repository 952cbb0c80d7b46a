// Finding a record by what a person knows of it: route, key and caller.
#pragma once

#include "core/plan.hpp"
#include "core/secret.hpp"
#include "ports/key_store.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace onceward {

struct KeyQuestion {
    std::string route;  // Name or id of a configured route.
    std::string key;    // As in the header, with or without quotes.
    std::string
        subject;  // The value of the field that names the caller; unused when callers are `shared`.
    std::string method;  // Empty: each method of the route is tried.
};

// One name that the record may have.
struct KeyCandidate {
    core::Digest digest;
    std::string method;
};

struct KeyNames {
    std::shared_ptr<const core::Route> route;
    std::vector<KeyCandidate> candidates;
};

// Why a question cannot be asked.
struct BadQuestion {
    std::string why;  // One sentence, without the key.
};

std::variant<KeyNames, BadQuestion> name_key(const core::Policy& policy,
                                             const core::KeyedHash& key_hash,
                                             const KeyQuestion& question);

struct FoundKey {
    KeyCandidate candidate;
    core::Record record;
};

// The first candidate that has a record; absent when none has. On the store's executor.
awaitable<StoreResult<std::optional<FoundKey>>> find_key(KeyStore& store,
                                                         std::vector<KeyCandidate> candidates);

}  // namespace onceward
