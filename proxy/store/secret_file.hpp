// The installation's secret, where it comes from and how it is made (decision 9).
#pragma once

#include "core/secret.hpp"
#include "store/open_error.hpp"

#include <string>
#include <variant>

namespace onceward {

using SecretOrError = std::variant<core::Secret, OpenError>;

// From text, without one line end at its end: what an editor adds must not change every key.
SecretOrError secret_from_text(std::string text, const std::string& source);

// From a file. Reads no more than 4 KiB.
SecretOrError read_secret_file(const std::string& path);

// Makes a new secret and keeps it in a new file that only its owner may read. Returns only after
// the file and its name are on the disk: records under a secret that a power cut takes away would
// all become new keys.
SecretOrError create_secret_file(const std::string& path);

}  // namespace onceward
