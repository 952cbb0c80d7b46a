// Rules across fields: what is wrong although every field is right.
#pragma once

#include "settings/draft.hpp"
#include "settings/reader.hpp"

namespace onceward {

// Reports to the reader; also puts into the draft's routes what the rules had to look up: their
// tier.
void check(Reader& reader, Draft& draft);

}  // namespace onceward
