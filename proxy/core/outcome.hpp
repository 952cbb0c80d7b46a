// What a complete upstream answer proves (decision 12).
#pragma once

#include "core/message.hpp"
#include "core/record.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace onceward::core {

enum class Disposition : std::uint8_t { done, failed, released, unknown };

// A route's or tier's `outcomes`: what single codes and whole classes mean here.
class Outcomes {
public:
    // 100..599, and 1..5 for a class. Out of range is ignored.
    void list_code(int status, Disposition disposition);
    void list_class(int hundreds, Disposition disposition);

    std::optional<Disposition> code(int status) const;
    std::optional<Disposition> status_class(int status) const;

private:
    std::array<std::optional<Disposition>, 600> codes_{};
    std::array<std::optional<Disposition>, 6> classes_{};
};

// How the end of the answer's body was known.
enum class BodyEnd : std::uint8_t {
    framed,    // By Content-Length, by the last chunk, or because the status allows no body.
    accepted,  // By the end of the connection, and the route accepts this answer as complete.
    unproved,  // By the end of the connection, which a killed upstream causes just as well (D12).
};

struct Judgement {
    Disposition disposition = Disposition::unknown;
    Reason reason = Reason::none;
};

// A listed code beats the single codes that are known to mean something, which beat a listed class,
// which beats the class's own meaning. An unproved end is unknown whatever the status says, unless
// the status proves by itself that nothing was executed.
Judgement judge_answer(const Response& answer, BodyEnd end, const Outcomes& outcomes);

}  // namespace onceward::core
