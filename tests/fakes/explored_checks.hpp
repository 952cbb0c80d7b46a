// What must hold whatever happens.
#pragma once

#include "fakes/explored_world.hpp"
#include "reply.hpp"

#include <optional>
#include <string_view>

namespace onceward::test {

class Checks {
public:
    explicit Checks(World& world) : world_(world) {}

    // After every step.
    void state()
    {
        must(world_.executions <= 1 + world_.reopenings,
             "I1 the legacy API did the work more often than allowed");
        const auto& slot = world_.slot;
        if (world_.settled) must(slot && still_settled(*slot), "I3 a recorded outcome changed");
        if (world_.tombstone) must(slot == world_.tombstone, "I3 a tombstone changed");
        if (!slot) return;
        switch (slot->state) {
            case core::State::done:
            case core::State::failed:
                must(is_true(*slot), "I6 a record holds an answer that was not given under it");
                if (!world_.settled) world_.settled = slot;
                break;
            case core::State::unknown:
                if (slot->kept != core::Kept::nothing) {
                    must(is_true(*slot),
                         "I6 an unknown record holds an answer that was not given under it");
                }
                break;
            case core::State::released:
                must(slot->reason == core::Reason::reopened ||
                         !world_.executed_under.contains(slot->epoch),
                     "I7 released after the work was done");
                break;
            case core::State::expired:
                if (!world_.tombstone) world_.tombstone = slot;
                break;
            case core::State::pending: break;
        }
    }

    void published()
    {
        const bool final = world_.settled && world_.gate &&
                           world_.gate->epoch == world_.settled->epoch &&
                           world_.gate->answer == world_.settled->answer;
        must(final, "RSV-3 published before it was committed");
    }

    // At the moment when a reply's first byte could leave.
    void told(const Reply& reply, const std::string& request)
    {
        state();
        const auto* response = std::get_if<core::Response>(&reply.content);
        if (response == nullptr) return;
        must(was_given(*response, request, reply.rest != nullptr),
             "I6 an answer that the legacy API never gave");
        if (reply.marks.replayed) {
            must(world_.settled && *response == world_.settled->answer,
                 "I2 a replay that differs from the recorded answer");
        }
        const bool success = response->status >= 200 && response->status < 300;
        if (!success || reply.marks.bypassed || reply.marks.stored != StoredMark::none) return;
        must(world_.settled && world_.settled->answer == stored_form(*response),
             "OUT-2 a success was told before it was recorded");
        world_.acknowledged =
            Given{world_.settled ? world_.settled->epoch : 0, request, stored_form(*response)};
    }

    // What a last client is told, when faults are over and every lease has ended.
    void told_last(const Reply& reply, const std::string& request)
    {
        const auto* problem = std::get_if<core::Problem>(&reply.content);
        if (problem != nullptr) {
            must(problem->code != core::ProblemCode::in_progress &&
                     problem->code != core::ProblemCode::store_unavailable,
                 "I4 the key is stuck");
        }
        if (!world_.acknowledged) return;
        bool kept = false;
        if (problem != nullptr) {
            const bool same = world_.acknowledged->request == request;
            kept = problem->code == (same ? core::ProblemCode::key_expired
                                          : core::ProblemCode::fingerprint_mismatch);
        } else {
            kept = reply.marks.replayed &&
                   std::get<core::Response>(reply.content) == world_.acknowledged->response;
        }
        must(kept, "I5 an acknowledged success was lost");
    }

    void must(bool holds, std::string_view what)
    {
        ++count;
        if (!holds && !violation) violation = what;
    }

    std::uint64_t count = 0;
    std::optional<std::string_view> violation;

private:
    bool still_settled(const core::Row& row) const
    {
        const auto& first = *world_.settled;
        if (row.epoch != first.epoch) return false;
        if (row.state == core::State::expired) return true;
        return row.state == first.state && row.answer == first.answer;
    }

    bool is_true(const core::Row& row) const
    {
        return std::any_of(world_.given.begin(), world_.given.end(), [&](const Given& given) {
            auto stored = stored_form(given.response);
            if (row.kept == core::Kept::too_large) stored.body.clear();
            return given.epoch == row.epoch && stored == row.answer;
        });
    }

    bool was_given(const core::Response& response, const std::string& request, bool goes_on) const
    {
        return std::any_of(world_.given.begin(), world_.given.end(), [&](const Given& given) {
            if (given.request != request || given.response.status != response.status) return false;
            if (goes_on) return given.response.body.starts_with(response.body);
            return response == given.response || response == stored_form(given.response);
        });
    }

    World& world_;
};

}  // namespace onceward::test
