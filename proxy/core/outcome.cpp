// What an upstream answer proves.
#include "core/outcome.hpp"

namespace onceward::core {

namespace {

bool in_range(int status)
{
    return status >= 100 && status <= 599;
}

// Codes that say what became of the request, whatever their class means.
std::optional<Disposition> known_code(const Response& answer)
{
    switch (answer.status) {
        case 407:
        case 421:
        case 425:
        case 429: return Disposition::released;
        // Without a challenge it is not HTTP's "authenticate first" but some application's word,
        // like any 4xx.
        case 401:
            if (answer.fields.has("WWW-Authenticate")) return Disposition::released;
            return std::nullopt;
        case 403: return Disposition::failed;  // A filter may say it after the work.
        case 408: return Disposition::unknown;
        default: return std::nullopt;
    }
}

Disposition class_meaning(int status)
{
    if (status >= 500) return Disposition::unknown;
    if (status >= 400) return Disposition::failed;
    return Disposition::done;
}

Reason reason_of(Disposition disposition, bool listed, int status)
{
    switch (disposition) {
        case Disposition::done:
        case Disposition::failed: return Reason::none;
        case Disposition::released: return listed ? Reason::listed : Reason::declined;
        case Disposition::unknown:
            if (listed) return Reason::listed;
            return status == 408 ? Reason::timeout : Reason::server_error;
    }
    return Reason::none;
}

}  // namespace

void Outcomes::list_code(int status, Disposition disposition)
{
    if (in_range(status)) codes_[static_cast<std::size_t>(status)] = disposition;
}

void Outcomes::list_class(int hundreds, Disposition disposition)
{
    if (hundreds >= 1 && hundreds <= 5) classes_[static_cast<std::size_t>(hundreds)] = disposition;
}

std::optional<Disposition> Outcomes::code(int status) const
{
    return in_range(status) ? codes_[static_cast<std::size_t>(status)] : std::nullopt;
}

std::optional<Disposition> Outcomes::status_class(int status) const
{
    return in_range(status) ? classes_[static_cast<std::size_t>(status / 100)] : std::nullopt;
}

Judgement judge_answer(const Response& answer, BodyEnd end, const Outcomes& outcomes)
{
    bool listed = true;
    auto disposition = outcomes.code(answer.status);
    if (!disposition) {
        disposition = known_code(answer);
        listed = false;
    }
    if (!disposition) {
        disposition = outcomes.status_class(answer.status);
        listed = disposition.has_value();
    }
    const auto meant = disposition.value_or(class_meaning(answer.status));
    if (end == BodyEnd::unproved && meant != Disposition::released) {
        return {Disposition::unknown, Reason::unproved_end};
    }
    return {meant, reason_of(meant, listed, answer.status)};
}

}  // namespace onceward::core
