// Answers of guarded requests, and our own, as bytes for the client.
#pragma once

#include "http/edge.hpp"
#include "reply.hpp"

#include <string>
#include <string_view>

namespace onceward {

// How the answer is framed, and whether the connection goes on.
struct AnswerFrame {
    int minor = 1;           // The client's HTTP/1.minor.
    bool keep_alive = true;  // After this answer.
    bool head_only = false;  // The request was HEAD.
    bool body_follows =
        false;  // More than the response's own body will come: chunked, or until close for 1.0.
};

// Head of an upstream's or a stored answer, with our marks; ends with the empty line.
std::string answer_head(const core::Response& response, const Marks& marks,
                        const AnswerFrame& frame);

// A problem document as a response (RFC 9457, ERR-1..3). `request_id` is in it for the operators.
core::Response problem_response(const core::Problem& problem, std::string_view problem_base,
                                std::string_view request_id);

// IMF-fixdate of now; and of a moment.
std::string_view date_now();
std::string imf_fixdate(std::chrono::sys_seconds moment);

// A status that allows no body (RFC 9110 section 6.4.1).
bool forbids_body(int status);

}  // namespace onceward
