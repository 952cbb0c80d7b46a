// Reading small files whole.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace onceward {

// Absent when it cannot be read or holds more than `bytes_max`. Blocks; used while loading only.
std::optional<std::string> read_small_file(const std::string& path, std::size_t bytes_max);

}  // namespace onceward
