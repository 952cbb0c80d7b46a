// How diagnostics are drawn when the text is unusual.
#include "settings/support.hpp"

using namespace onceward;

TEST_CASE("carets stand below characters, not bytes")
{
    const auto loaded = testing::load("server: { \xC3\xA4\xC3\xB6: 1, upstrem: 2 }\n");
    const auto text = testing::shown(loaded);
    CHECK(text.find("1:11\n   |\n 1 | server: { \xC3\xA4\xC3\xB6: 1, upstrem: 2 }\n   |           "
                    "^^ not a setting") != std::string::npos);
    CHECK(text.find("   |                  ^^^^^^^ did you mean `upstream`?") != std::string::npos);
}

TEST_CASE("a value that is a secret is never shown")
{
    auto loaded = testing::load("keys: { secret: short-one, secret: other-one, unknown: 1 }\n");
    const auto text = testing::shown(loaded);
    CHECK(text.find("E101") != std::string::npos);
    CHECK(text.find("E303") != std::string::npos);
    CHECK(text.find("-one") == std::string::npos);
    CHECK(render_json("f", loaded.diagnostics).find("-one") == std::string::npos);
}

TEST_CASE("a very long line is cut around the caret")
{
    const auto loaded = testing::load("server: { " + std::string(5'000, ' ') + "upstrem: 2 }\n");
    const auto text = testing::shown(loaded);
    CHECK(text.find("upstrem: 2") != std::string::npos);
    CHECK(text.size() < 2'000);
}

TEST_CASE("no control character reaches the terminal")
{
    const auto loaded = testing::load("\"a\\e[31m\\nb\": 1\nserver: \x1b[31m\n");
    const auto more = testing::load("\"a\\e[31m\\nb\": 1\n");
    for (const auto& text : {testing::shown(loaded), testing::shown(more)}) {
        CHECK(text.find('\x1b') == std::string::npos);
        CHECK_FALSE(text.empty());
    }
}

TEST_CASE("at most twenty errors are shown, and the last says how many more there are")
{
    std::string text = "server:\n";
    for (int i = 0; i < 30; ++i)
        text += "  nonsense" + std::to_string(i) + ": 1\n";
    const auto loaded = testing::load(text);
    CHECK(loaded.diagnostics.size() == 20);
    CHECK(testing::shown(loaded).find("further errors are not shown") != std::string::npos);
}

TEST_CASE("diagnostics come in file order")
{
    const auto loaded = testing::load(
        testing::file_text(testing::source_path("tests/settings/golden/several.yaml")));
    for (std::size_t i = 1; i < loaded.diagnostics.size(); ++i) {
        CHECK(loaded.diagnostics[i - 1].place.line <= loaded.diagnostics[i].place.line);
    }
}
