// What every key store must do, whatever it is made of: one list of cases, run against each of
// them.
#pragma once

#include "store_rig.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace onceward::test {

struct ContractCase {
    const char* name;
    void (*run)(StoreRig& rig);
};

using ContractCases = std::vector<ContractCase>;
ContractCases claim_cases();
ContractCases settlement_cases();
ContractCases retention_cases();

// Inside a TEST_CASE: each case, as a subcase, on a new store.
inline void run_contract(const ContractCases& cases,
                         const std::function<std::unique_ptr<StoreRig>()>& make_rig)
{
    for (const auto& one : cases) {
        DOCTEST_SUBCASE(one.name)
        {
            const auto rig = make_rig();
            one.run(*rig);
        }
    }
}

}  // namespace onceward::test
