// A record as JSON, for people who look after it: what is known, without the key and without the
// caller.
#pragma once

#include "ports/key_store.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace onceward {

struct RecordView {
    core::Digest digest;
    const core::Record* record = nullptr;
    std::string_view route;   // Empty: not known; a digest does not tell.
    std::string_view method;  // Likewise.
    std::string_view tier;
    bool with_body = false;  // Adds `body_preview`: the first 2 KiB, as text.
};

// One object of schema onceward.key/1, on one line, with a line end.
std::string record_json(const RecordView& view);

// An object of schema onceward.keys/1 with `items`; `tiers`: the configured names, by index.
std::string record_list_json(const std::vector<Listed>& records,
                             const std::vector<std::string>& tiers);

}  // namespace onceward
