// Small files that must survive a power cut.
#pragma once

#include <string>
#include <string_view>

namespace onceward {

// Writes a new file, readable by its owner only, under a temporary name, and gives it its own name
// once its bytes are on the disk. False, with errno set, when that failed; the name then does not
// exist.
bool write_durably(const std::string& path, std::string_view content);

// Makes an empty file, readable by its owner only, unless the name exists. False, with errno set,
// on failure.
bool create_durably(const std::string& path);

// The directory that holds this path; "." when the path has none.
std::string directory_of(const std::string& path);

}  // namespace onceward
