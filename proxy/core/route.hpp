// The route table: which requests are guarded, and how.
#pragma once

#include "core/outcome.hpp"
#include "core/retention.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace onceward::core {

enum class Mode : std::uint8_t { off, observe, enforce };
enum class WhenMissing : std::uint8_t { reject, pass };
enum class PathMatch : std::uint8_t { any, exact, prefix, regex };
enum class CloseDelimited : std::uint8_t { unknown, accept };
enum class CompleteIf : std::uint8_t { json, xml, any };

struct Match {
    std::vector<std::string> methods;  // Upper case; never a safe method (APP-1). Empty: any other.
    PathMatch kind = PathMatch::any;
    std::string path;  // exact, prefix; the expression's text for regex.
    std::function<bool(std::string_view)> matches;  // regex only: linear-time, made when loading.
};

struct Route {
    std::string name;
    std::string id;  // Part of every key's digest; stays when the name changes (decision 9).
    Match match;
    Mode mode = Mode::enforce;
    WhenMissing when_missing = WhenMissing::reject;
    Tier tier;  // A copy: the request path follows no pointers into the settings.
    std::uint16_t tier_index = 0;              // Its place in the settings' list of tiers.
    Millis timeout{std::chrono::seconds{30}};  // One exchange, connect to last byte (decision 13).
    Millis in_progress_wait{std::chrono::seconds{3}};  // How long a duplicate waits before its 409.
    std::size_t request_body_max = 1 << 20;            // Bytes; more is 413.
    std::size_t stored_response_max = 256 << 10;  // Bytes of body; more is passed on, not kept.
    Outcomes outcomes;
    CloseDelimited close_delimited = CloseDelimited::unknown;
    CompleteIf complete_if = CompleteIf::json;
    std::vector<std::string> replay_headers;  // Empty: every storable field.
    int upstream = 0;                         // Index into the settings' list of upstreams.
};

// A route that a request meets, and the method under which it meets it.
struct Guarding {
    std::shared_ptr<const Route> route;
    std::string method;
};

// First match wins. Raw path and normalised path, method and every method-override header are
// tried; when any combination meets an enforcing route, the request is guarded (decision 23).
// Absent: pass through.
class RouteTable {
public:
    RouteTable() = default;
    explicit RouteTable(std::vector<Route> routes);

    // `overrides`: values of method-override headers, as received.
    std::optional<Guarding> guarding(std::string_view method, std::string_view target,
                                     const std::vector<std::string_view>& overrides) const;

    // First route that this exact method and path meet, enforcing or not; for `explain`.
    std::shared_ptr<const Route> first(std::string_view method, std::string_view path) const;

    const std::vector<std::shared_ptr<const Route>>& routes() const { return routes_; }

private:
    std::shared_ptr<const Route> first_normal(std::string_view method,
                                              std::string_view normal_path) const;

    std::vector<std::shared_ptr<const Route>> routes_;
    std::vector<Match> normal_matches_;  // Of routes_, one to one, with normalised paths.
};

bool meets(const Match& match, std::string_view method, std::string_view path);

// The path that a lenient server may see in these bytes: one percent-decoding, backslashes as
// slashes, no parameters, no empty or dot segments, no trailing slash. Without query.
std::string normalised_path(std::string_view target);

std::string upper(std::string_view method);

}  // namespace onceward::core
