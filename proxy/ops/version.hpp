// The version of this program.
#pragma once

#include <string_view>

namespace onceward {

constexpr std::string_view version = "0.1.0";

}  // namespace onceward
