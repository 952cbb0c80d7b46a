// Whether a body that ended with its connection looks complete by its own syntax (decision 12).
#pragma once

#include "core/route.hpp"

#include <string_view>

namespace onceward {

// json: one whole JSON text. xml: one whole, well-formed document. any: whatever came. Neither
// recurses into the body (decision 30).
bool looks_complete(core::CompleteIf rule, std::string_view body);

}  // namespace onceward
