// The contract suite, run against every store there is.
#include "key_store_contract.hpp"
#include "model_rig.hpp"
#include "sqlite_rig.hpp"

using namespace onceward::test;

namespace {

std::unique_ptr<StoreRig> model()
{
    return std::make_unique<ModelRig>();
}

std::unique_ptr<StoreRig> sqlite()
{
    return std::make_unique<SqliteRig>();
}

}  // namespace

TEST_CASE("model store: claims")
{
    run_contract(claim_cases(), model);
}
TEST_CASE("model store: settlements")
{
    run_contract(settlement_cases(), model);
}
TEST_CASE("model store: retention")
{
    run_contract(retention_cases(), model);
}

TEST_CASE("embedded store: claims")
{
    run_contract(claim_cases(), sqlite);
}
TEST_CASE("embedded store: settlements")
{
    run_contract(settlement_cases(), sqlite);
}
TEST_CASE("embedded store: retention")
{
    run_contract(retention_cases(), sqlite);
}
