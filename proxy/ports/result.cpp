// A failed result must be looked at before its value is taken.
#include "ports/result.hpp"

#include <cstdlib>

namespace onceward {

void throw_exception_from_error(StoreError, const boost::source_location&)
{
    std::abort();
}

}  // namespace onceward
