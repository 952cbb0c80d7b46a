// Which fields of an answer are kept with it (decision 15, RPL-7, RPL-8).
#pragma once

#include "core/fields.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace onceward::core {

// True for fields that speak of one transmission, one caller or one moment: cookies, dates, rate
// limits, caching, CORS, hop-by-hop and framing fields. They are never stored.
bool is_bound_to_its_moment(std::string_view name);

// The fields to store, in order. `only`: when not empty, further narrowed to these names.
Fields storable(const Fields& fields, const std::vector<std::string>& only);

}  // namespace onceward::core
