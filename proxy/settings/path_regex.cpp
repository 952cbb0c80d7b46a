// RE2 with options that leave no path unmatched by accident.
#include "settings/path_regex.hpp"

#include <re2/re2.h>

#include <memory>

namespace onceward {

std::variant<PathPredicate, std::string> make_path_predicate(const std::string& expression)
{
    RE2::Options options;
    options.set_log_errors(false);
    options.set_encoding(RE2::Options::EncodingLatin1);
    options.set_dot_nl(true);
    options.set_never_capture(true);
    options.set_max_mem(4 << 20);
    auto compiled = std::make_shared<const RE2>(expression, options);
    if (!compiled->ok()) return compiled->error();
    return PathPredicate([compiled = std::move(compiled)](std::string_view path) {
        return RE2::FullMatch(re2::StringPiece(path.data(), path.size()), *compiled);
    });
}

}  // namespace onceward
