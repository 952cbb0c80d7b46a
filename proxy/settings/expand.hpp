// ${VARIABLE} and ${VARIABLE:-default} inside values.
#pragma once

#include "settings/load.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace onceward {

struct VariableUnset {
    std::string name;
};
struct VariableMalformed {
    std::string what;
};
// Its VARIABLE_FILE names a file that is not opened (offline) or cannot be read.
struct VariableFile {
    std::string name;
    std::string file;
    bool tried = false;
};

using Expansion = std::variant<std::string, VariableUnset, VariableMalformed, VariableFile>;

// `$${` stands for a literal `${`; any other `$` is itself. A variable that is not set is read from
// the file that VARIABLE_FILE names, without its last line break, unless `offline`.
Expansion expand(std::string_view text, const Environment& environment, bool offline);

// The text with every `${` written as `$${`, so that expand() gives it back.
std::string escape_variables(std::string_view text);

}  // namespace onceward
