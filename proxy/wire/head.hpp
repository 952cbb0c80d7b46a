// The strict check of message heads, on the raw bytes, before anything else looks at them (decision
// 23). What two parsers could read differently is refused here, so that nothing can hide behind the
// difference.
#pragma once

#include "core/fields.hpp"
#include "core/problem.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace onceward::wire {

// How the end of a body is found (RFC 9112 section 6.3).
enum class Framing : std::uint8_t { none, length, chunked, until_close };

// Never more than this many bytes of one connection wait to be understood (HTP-17).
inline constexpr std::size_t receive_buffer_max = 64 << 10;

// An upstream that sends more interim answers than this for one request is not making progress.
inline constexpr int interim_answers_max = 32;

struct HeadLimits {
    std::size_t bytes_max = 32 << 10;  // Start line and fields.
    std::size_t target_max = 8 << 10;
    std::size_t fields_max = 100;
};

struct RequestHead {
    std::string method;
    std::string
        target;  // origin-form, or * for OPTIONS; the authority of an absolute-form is in `host`.
    std::string host;                    // Empty only for HTTP/1.0.
    int minor = 1;                       // HTTP/1.minor
    core::Fields fields;                 // As received, in order, hop-by-hop ones included.
    std::vector<std::string> nominated;  // Field names that Connection lists.
    Framing framing = Framing::none;     // none, length or chunked.
    std::uint64_t length = 0;            // Framing::length only.
    bool keep_alive = true;
    bool expects_continue = false;
};

struct ResponseHead {
    int status = 0;  // 100..599
    std::string reason;
    int minor = 1;
    core::Fields fields;
    std::vector<std::string> nominated;
    Framing framing = Framing::none;
    std::uint64_t length = 0;
    bool keep_alive = true;
};

// Why a head is refused. `why` is a fixed sentence.
struct Violation {
    core::ProblemCode code = core::ProblemCode::bad_request;
    std::string_view why;
};

// `raw` ends with the empty line. `guarded_names`: fields that a Connection field must not
// nominate, because removing them would change who asks or which key it is (HTP-8): the key's and
// the subject's names. Pure.
std::variant<RequestHead, Violation> check_request_head(
    std::string_view raw, const HeadLimits& limits, const std::vector<std::string>& guarded_names);

// `request_method` decides whether a body follows (HEAD). Folded lines are joined with blanks, as
// RFC 9112 section 5.2 asks of a gateway; blanks before a colon are removed (section 5.1). Pure.
std::variant<ResponseHead, Violation> check_response_head(std::string_view raw,
                                                          std::string_view request_method);

// The comma-separated members of all fields of this name, blanks trimmed, empty members left out.
std::vector<std::string> list_members(const core::Fields& fields, std::string_view name);

// Hop-by-hop by definition (RFC 9110 section 7.6.1), framing included: made anew for each
// connection.
bool is_hop_by_hop(std::string_view name);

// `fields` without hop-by-hop and nominated ones.
core::Fields end_to_end(const core::Fields& fields, const std::vector<std::string>& nominated);

}  // namespace onceward::wire
