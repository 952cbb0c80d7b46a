// Names of decisions, as logs and metrics show them.
#include "ports/observer.hpp"

namespace onceward {

std::string_view to_string(Decision decision)
{
    switch (decision) {
        case Decision::passthrough: return "passthrough";
        case Decision::executed: return "executed";
        case Decision::released: return "released";
        case Decision::replayed: return "replayed";
        case Decision::waited: return "waited";
        case Decision::in_progress: return "in_progress";
        case Decision::unknown: return "unknown";
        case Decision::mismatch: return "mismatch";
        case Decision::expired: return "expired";
        case Decision::unavailable: return "unavailable";
        case Decision::rejected: return "rejected";
        case Decision::store_error: return "store_error";
        case Decision::bypassed: return "bypassed";
        case Decision::unstored: return "unstored";
        case Decision::count_: break;
    }
    return "executed";
}

}  // namespace onceward
