// Regular expressions over paths, matched in linear time; the only user of RE2.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>

namespace onceward {

using PathPredicate = std::function<bool(std::string_view path)>;

// True when the whole path matches. Bytes, not characters: `.` is any byte, so that no odd byte in
// a path lets it escape. The error is RE2's sentence. The predicate may be called from any thread.
std::variant<PathPredicate, std::string> make_path_predicate(const std::string& expression);

}  // namespace onceward
