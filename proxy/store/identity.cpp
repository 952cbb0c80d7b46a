// The comparison of the configuration with the store's ledger.
#include "store/identity.hpp"

#include <algorithm>

namespace onceward {

namespace {

OpenError missing_route(const std::string& id)
{
    return {"route id `" + id +
                "` has records in this store but is not configured: its keys would become new ones",
            "write `id: " + id +
                "` on the route that took its place, or start once with --forget " + id,
            "E703"};
}

OpenError changed_subject(const std::string& was, const std::string& now)
{
    return {"keys.subject was `" + was + "`, is now `" + now + "`: every old key would become new",
            "restore it, or start once with --forget subject", "E703"};
}

OpenError changed_action(const std::string& was)
{
    return {"this store names its keys by form " + was + ", this binary by form " + action_form +
                ": every old key would become new",
            "run the onceward that wrote this store", "E703"};
}

}  // namespace

LedgerCheck check_identity(const Ledger& ledger, const Identity& identity,
                           const std::vector<std::string>& forget)
{
    LedgerCheck check;
    const std::set<std::string> configured(identity.route_ids.begin(), identity.route_ids.end());
    const auto forgotten = [&](const std::string& name) {
        return std::find(forget.begin(), forget.end(), name) != forget.end();
    };
    for (const auto& id : ledger.route_ids) {
        if (!configured.contains(id) && !forgotten(id)) check.refusals.push_back(missing_route(id));
    }
    const auto& subject = ledger.subject_form;
    if (subject && *subject != identity.subject_form && !forgotten("subject")) {
        check.refusals.push_back(changed_subject(*subject, identity.subject_form));
    }
    if (ledger.action_form && *ledger.action_form != action_form) {
        check.refusals.push_back(changed_action(*ledger.action_form));
    }
    check.updated = {configured, identity.subject_form, action_form};
    return check;
}

}  // namespace onceward
