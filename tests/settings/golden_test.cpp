// Messages byte for byte: golden/NAME.yaml is loaded, golden/NAME.txt is what an operator sees.
// ONCEWARD_UPDATE_GOLDEN=1 in the environment writes the expectations anew, to be read before they
// are kept.
#include "settings/support.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>

using namespace onceward;

namespace {

const std::string folder = std::string(ONCEWARD_SOURCE_DIR) + "/tests/settings/golden/";

void check_golden(const std::string& name)
{
    const auto loaded = testing::load(testing::file_text(folder + name + ".yaml"));
    const auto text = testing::shown(loaded);
    if (std::getenv("ONCEWARD_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(folder + name + ".txt", std::ios::binary) << text;
    }
    CHECK(text == testing::file_text(folder + name + ".txt"));
}

}  // namespace

TEST_CASE("E001 an unterminated string")
{
    check_golden("E001");
}
TEST_CASE("E101 a key that appears twice")
{
    check_golden("E101");
}
TEST_CASE("E102 unknown keys")
{
    check_golden("E102");
}
TEST_CASE("E110 RSV-9 a lease below the timeout")
{
    check_golden("E110");
}
TEST_CASE("E111 EXP-2 a retention below the retry budget")
{
    check_golden("E111");
}
TEST_CASE("E120 SCP-2 no subject")
{
    check_golden("E120");
}
TEST_CASE("E301 an unset variable")
{
    check_golden("E301");
}
TEST_CASE("W01 an unstated retry budget")
{
    check_golden("W01");
}
TEST_CASE("W90 settings that are not built yet")
{
    check_golden("W90");
}
TEST_CASE("W91 observe runs as off")
{
    check_golden("W91");
}
TEST_CASE("many mistakes in one run")
{
    check_golden("several");
}

TEST_CASE("the same mistakes as JSON")
{
    const auto loaded = testing::load(testing::file_text(folder + "E102.yaml"));
    const auto array = nlohmann::json::parse(render_json("onceward.yaml", loaded.diagnostics));
    REQUIRE(array.size() == 3);
    CHECK(array[0] == nlohmann::json({{"code", "E102"},
                                      {"severity", "error"},
                                      {"file", "onceward.yaml"},
                                      {"line", 8},
                                      {"column", 5},
                                      {"end_column", 13},
                                      {"path", "tiers.payments.retenton"},
                                      {"message", "unknown key `retenton` in tiers.payments"},
                                      {"suggestion", "retention"}}));
    CHECK(array[2]["suggestion"] == "");
}
