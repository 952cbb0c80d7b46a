// The model store as a store under test.
#pragma once

#include "fakes/model_store.hpp"
#include "store_rig.hpp"

namespace onceward::test {

class ModelRig final : public StoreRig {
public:
    KeyStore& store() override { return model; }
    void set_time(core::StoreTime now) override { model.now = now; }

    static std::vector<core::TierTimes> times()
    {
        std::vector<core::TierTimes> all;
        for (const auto& tier : contract_tiers())
            all.push_back(tier.times());
        return all;
    }

    ModelStore model{times()};
};

}  // namespace onceward::test
