// The contract suite on PostgreSQL.
#include "contract/key_store_contract.hpp"
#include "postgres/postgres_rig.hpp"

using namespace onceward::test;

namespace {

std::unique_ptr<StoreRig> postgres()
{
    return std::make_unique<PostgresRig>();
}

}  // namespace

TEST_CASE("PostgreSQL store: claims")
{
    run_contract(claim_cases(), postgres);
}
TEST_CASE("PostgreSQL store: settlements")
{
    run_contract(settlement_cases(), postgres);
}
TEST_CASE("PostgreSQL store: retention")
{
    run_contract(retention_cases(), postgres);
}
