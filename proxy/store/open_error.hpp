// Why a store cannot be opened, for the person who started the program.
#pragma once

#include <string>

namespace onceward {

struct OpenError {
    std::string message;  // What is wrong, in one sentence without full stop.
    std::string hint;     // The way out.
    std::string code;     // As in docs/errors.md; empty when the case has no code of its own.
};

}  // namespace onceward
