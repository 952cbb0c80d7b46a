// Text that is meant to hurt: the loader reports and returns.
#include "settings/support.hpp"
#include "settings/yaml_tree.hpp"

#include <random>

using namespace onceward;

namespace {

// Loading and drawing must end; what they say is the other tests' matter.
void survive(const std::string& text)
{
    const auto loaded = testing::load(text);
    const auto drawn = testing::shown(loaded);
    const auto json = render_json("f", loaded.diagnostics);
    if (!loaded.ok()) {
        CHECK_FALSE(drawn.empty());
        CHECK_FALSE(json.empty());
    }
}

std::string repeated(std::string_view part, std::size_t times)
{
    std::string out;
    out.reserve(part.size() * times);
    for (std::size_t i = 0; i < times; ++i)
        out += part;
    return out;
}

// One edit: a byte changed, removed, doubled, or a piece moved.
void mutate(std::string& text, std::mt19937& random)
{
    const std::string_view interesting = "{}[]:,'\"#&*!|>%@`\\\n\t -?~\x80\xFF$";
    const auto pick = [&random](std::size_t below) {
        return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
    };
    if (text.empty()) text = "a";
    const auto at = pick(text.size());
    switch (pick(5)) {
        case 0: text[at] = interesting[pick(interesting.size())]; break;
        case 1: text.erase(at, 1 + pick(8)); break;
        case 2: text.insert(at, 1, interesting[pick(interesting.size())]); break;
        case 3: text.insert(pick(text.size()), text.substr(at, 1 + pick(40))); break;
        default: text[at] = static_cast<char>(pick(256)); break;
    }
}

}  // namespace

TEST_CASE("deep nesting is refused")
{
    for (const auto* part : {"[", "{a: ", "- ", "? "}) {
        const auto text = "a: " + repeated(part, 200'000);
        CHECK(text.size() < (1 << 20));
        survive(text);
        survive(repeated(part, 200'000));
    }
    std::string indented;
    for (std::size_t level = 0; level < 1'000; ++level)
        indented += std::string(level, ' ') + "a:\n";
    CHECK(testing::reports(testing::load(indented), "E005"));
}

TEST_CASE("a million aliases are refused at the first anchor")
{
    const auto text = "a: &a [x,x]\nb: [" + repeated("*a,", 300'000) + "]\n";
    CHECK(testing::codes_of(testing::load(text)) == std::vector<std::string>{"E003"});
    CHECK(testing::reports(testing::load("b: [" + repeated("*a,", 300'000) + "]\n"), "E003"));
}

TEST_CASE("size limits")
{
    CHECK(testing::codes_of(testing::load(std::string(2 << 20, 'a'))) ==
          std::vector<std::string>{"E005"});
    CHECK(testing::codes_of(testing::load("a: [" + repeated("x,", 500'000) + "]\n")) ==
          std::vector<std::string>{"E005"});
    survive(std::string((1 << 20) - 1, 'a'));
    survive("a: '" + std::string(1'000'000, 'b') + "'\n");
}

TEST_CASE("bytes that are no text")
{
    survive(std::string(1'000, '\0'));
    survive("a: \xC3\x28\n");
    survive("a: \xED\xA0\x80\n");
    survive(
        "\xFF\xFE"
        "a\0:\0");
    survive(
        "\xEF\xBB\xBF"
        "server: 1\n");
    survive("a: \xE2\x80\xA8 b\n");
    survive("a:\r\n  b: 1\r c: 2\n");
}

TEST_CASE("E001 names the line of a byte that is no text")
{
    const auto loaded = testing::load("server:\n  upstream: \xFF\n");
    REQUIRE(loaded.diagnostics.size() == 1);
    CHECK(loaded.diagnostics[0].place.line == 2);
    CHECK(loaded.diagnostics[0].place.column == 13);
}

TEST_CASE("a byte order mark shifts nothing but its own line")
{
    const auto loaded = testing::load("\xEF\xBB\xBF# x\nserver: { upstrem: 1 }\n");
    REQUIRE_FALSE(loaded.diagnostics.empty());
    const auto& last = loaded.diagnostics.back();
    CHECK(last.code == "E102");
    CHECK(last.place.line == 2);
    CHECK(last.place.column == 11);
}

TEST_CASE("twenty thousand mutations of the shipped files")
{
    std::mt19937 random(20'240);
    for (const auto* name : {"config/minimal.yaml", "config/tiers.yaml"}) {
        const auto original = testing::file_text(testing::source_path(name));
        for (int round = 0; round < 10'000; ++round) {
            std::string text = original;
            const int edits = 1 + round % 4;
            for (int i = 0; i < edits; ++i)
                mutate(text, random);
            survive(text);
        }
    }
}
