// Every house rule, tried on a bad snippet that it must catch and on a good one that it must leave
// alone.
#include "tidy/rules.hpp"

#include <doctest/doctest.h>

namespace {

using namespace onceward::tidy;

Files files(std::initializer_list<SourceFile> list)
{
    return list;
}

// The lines that are at fault, as text: "1", "2 5", or "" for none.
std::string at(const Violations& violations)
{
    std::string lines;
    for (const auto& violation : violations) {
        if (!lines.empty()) lines += ' ';
        lines += std::to_string(violation.line);
    }
    return lines;
}

// check_include_edges on one file, with one other file present.
std::string edge(std::string path, std::string include, std::string other = "proxy/core/key.hpp")
{
    return at(check_include_edges(files(
        {{std::move(path), "// A file.\n#include " + include + "\n"}, {std::move(other), ""}})));
}

std::string banned(std::string path, std::string text)
{
    return at(check_banned_names(files({{std::move(path), std::move(text)}})));
}

std::string function_of(std::size_t lines)
{
    std::string text = "// A file.\nint f()\n{\n";
    for (std::size_t i = 0; i < lines; ++i)
        text += "    step();\n";
    return text + "}\n";
}

}  // namespace

TEST_CASE("a violation is printed as file:line: rule")
{
    CHECK(Violation{"proxy/a.cpp", 7, "too long"}.text() == "proxy/a.cpp:7: too long");
}

TEST_CASE("layers by path")
{
    CHECK(layer_of("proxy/core/key.cpp") == "core");
    CHECK(layer_of("proxy/exchange.hpp") == "story");
    CHECK(layer_of("proxy/recorded_tail.cpp") == "story");
    CHECK(layer_of("proxy/main.cpp") == "main");
    CHECK(layer_of("bench/demo.cpp") == "bench");
    CHECK(layer_of("proxy/novelty.cpp").empty());
    CHECK(layer_of("proxy/novelty/a.cpp").empty());
    CHECK(layer_of("tests/core/key_test.cpp").empty());
}

TEST_CASE("edges: downwards is allowed")
{
    CHECK(edge("proxy/core/plan.hpp", "\"core/key.hpp\"").empty());
    CHECK(edge("proxy/ports/gate.hpp", "\"core/key.hpp\"").empty());
    CHECK(edge("proxy/exchange.cpp", "\"ports/gate.hpp\"", "proxy/ports/gate.hpp").empty());
    CHECK(edge("proxy/http/session.cpp", "\"exchange.hpp\"", "proxy/exchange.hpp").empty());
    CHECK(edge("proxy/http/relay.cpp", "\"upstream/pool.hpp\"", "proxy/upstream/pool.hpp").empty());
    CHECK(edge("proxy/worker.cpp", "\"store/a.hpp\"", "proxy/store/a.hpp").empty());
    CHECK(edge("proxy/cli/demo.cpp", "\"../bench/demo.hpp\"", "bench/demo.hpp").empty());
    CHECK(edge("bench/demo.cpp", "\"demo.hpp\"", "bench/demo.hpp").empty());
}

TEST_CASE("edges: upwards and sideways is not")
{
    CHECK(edge("proxy/core/plan.hpp", "\"ports/gate.hpp\"", "proxy/ports/gate.hpp") == "2");
    CHECK(edge("proxy/ports/gate.hpp", "\"exchange.hpp\"", "proxy/exchange.hpp") == "2");
    CHECK(edge("proxy/exchange.cpp", "\"store/a.hpp\"", "proxy/store/a.hpp") == "2");
    CHECK(edge("proxy/exchange.cpp", "\"wire/head.hpp\"", "proxy/wire/head.hpp") == "2");
    CHECK(edge("proxy/store/a.cpp", "\"gate/b.hpp\"", "proxy/gate/b.hpp") == "2");
    CHECK(edge("proxy/gate/a.cpp", "\"upstream/b.hpp\"", "proxy/upstream/b.hpp") == "2");
    CHECK(edge("proxy/upstream/a.cpp", "\"store/b.hpp\"", "proxy/store/b.hpp") == "2");
    CHECK(edge("proxy/http/a.cpp", "\"store/b.hpp\"", "proxy/store/b.hpp") == "2");
    CHECK(edge("proxy/settings/a.cpp", "\"ports/gate.hpp\"", "proxy/ports/gate.hpp") == "2");
    CHECK(edge("proxy/ops/a.cpp", "\"http/b.hpp\"", "proxy/http/b.hpp") == "2");
    CHECK(edge("proxy/wire/a.cpp", "\"http/b.hpp\"", "proxy/http/b.hpp") == "2");
    CHECK(edge("proxy/store/a.cpp", "\"worker.hpp\"", "proxy/worker.hpp") == "2");
    CHECK(edge("proxy/http/a.cpp", "\"../bench/demo.hpp\"", "bench/demo.hpp") == "2");
    CHECK(edge("bench/a.cpp", "\"core/key.hpp\"") == "2");
    CHECK(edge("proxy/novelty/a.cpp", "<string>") == "1");
}

TEST_CASE("edges: includes are spelled from proxy/ and lead somewhere")
{
    CHECK(edge("proxy/core/plan.hpp", "\"key.hpp\"") == "2");
    CHECK(edge("proxy/core/plan.hpp", "\"../core/key.hpp\"") == "2");
    CHECK(edge("proxy/core/plan.hpp", "\"core/gone.hpp\"") == "2");
}

TEST_CASE("edges: foreign headers stay in the layers that own them")
{
    CHECK(edge("proxy/core/a.cpp", "<vector>").empty());
    CHECK(edge("proxy/core/a.cpp", "<openssl/evp.h>").empty());
    CHECK(edge("proxy/core/a.cpp", "<boost/asio/awaitable.hpp>") == "2");
    CHECK(edge("proxy/core/a.cpp", "<unistd.h>") == "2");
    CHECK(edge("proxy/core/a.cpp", "<nlohmann/json.hpp>") == "2");
    CHECK(edge("proxy/ports/a.hpp", "<boost/asio/awaitable.hpp>").empty());
    CHECK(edge("proxy/ports/a.hpp", "<boost/asio/ip/tcp.hpp>") == "2");
    CHECK(edge("proxy/exchange.cpp", "<boost/asio/co_spawn.hpp>").empty());
    CHECK(edge("proxy/exchange.cpp", "<boost/beast/http.hpp>") == "2");
    CHECK(edge("proxy/store/a.cpp", "<sqlite3.h>").empty());
    CHECK(edge("proxy/store/a.cpp", "<sys/stat.h>").empty());
    CHECK(edge("proxy/http/a.cpp", "<sqlite3.h>") == "2");
    CHECK(edge("proxy/settings/a.cpp", "<yaml.h>").empty());
    CHECK(edge("proxy/settings/a.cpp", "<boost/asio/ip/tcp.hpp>") == "2");
    CHECK(edge("proxy/ops/a.cpp", "<spdlog/spdlog.h>").empty());
    CHECK(edge("proxy/http/a.cpp", "<spdlog/spdlog.h>") == "2");
    CHECK(edge("proxy/store/a.cpp", "<doctest/doctest.h>") == "2");
}

TEST_CASE("a library's headers appear in one pair of files")
{
    const SourceFile header{"proxy/store/a.hpp", "// A.\n#include <sqlite3.h>\n"};
    const SourceFile body{"proxy/store/a.cpp", "// A.\n#include <sqlite3.h>\n"};
    const SourceFile stranger{"proxy/store/b.cpp", "// B.\n\n#include <sqlite3.h>\n"};
    const SourceFile test{"tests/store/a_test.cpp", "// T.\n#include <sqlite3.h>\n"};
    CHECK(at(check_library_homes({body, header, test})).empty());
    CHECK(at(check_library_homes({body, header, stranger})) == "3");
    CHECK(
        at(check_library_homes({{"proxy/http/a.cpp", "#include <nlohmann/json.hpp>\n"}})).empty());
    CHECK(at(check_library_homes({{"proxy/http/a.hpp", "#include <nlohmann/json.hpp>\n"}})) == "1");
}

TEST_CASE("a file of proxy/ may have 400 lines and no more")
{
    const std::string lines(400, '\n');
    CHECK(at(check_file_lengths({{"proxy/core/a.cpp", lines}})).empty());
    CHECK(at(check_file_lengths({{"proxy/core/a.cpp", lines + "\n"}})) == "401");
    CHECK(at(check_file_lengths({{"tests/core/a_test.cpp", lines + "\n"}})).empty());
}

TEST_CASE("a function of proxy/ may have 70 lines and no more")
{
    CHECK(at(check_function_lengths({{"proxy/core/a.cpp", function_of(70)}})).empty());
    CHECK(at(check_function_lengths({{"proxy/core/a.cpp", function_of(71)}})) == "3");
    CHECK(at(check_function_lengths({{"tests/core/a.cpp", function_of(71)}})).empty());
}

TEST_CASE("functions are found where our formatting puts them, and nowhere else")
{
    const auto found = functions_of(
        "namespace a {\n"
        "int f()\n{\n    if (x) {\n        y();\n    }\n    {\n        block();\n    }\n}\n"
        "class C {\n    int g() const\n    {\n        return 1;\n    }\n    int h() { return 2; "
        "}\n};\n"
        "C::C()\n    : a_{1}\n{\n}\n"
        "const char* text =\n    R\"(\nint no()\n{\n}\n)\";\n"
        "// int comment()\n/*\nint other()\n{\n}\n*/\n"
        "}  // namespace a\n");
    REQUIRE(found.size() == 3);
    CHECK(found[0].line == 3);
    CHECK(found[0].lines == 6);
    CHECK(found[1].lines == 1);
    CHECK(found[2].lines == 0);
}

TEST_CASE("a line may have 100 columns, counted in characters")
{
    const std::string wide(100, 'x');
    std::string accented;
    for (int i = 0; i < 100; ++i)
        accented += "\xC3\xA9";
    CHECK(at(check_line_widths({{"tests/a.cpp", wide + "\n" + accented + "\n"}})).empty());
    CHECK(at(check_line_widths({{"tests/a.cpp", "\n" + wide + "x\n" + accented + "x\n"}})) ==
          "2 3");
}

TEST_CASE("the first line is a sentence, and a header is guarded")
{
    CHECK(at(check_first_lines({{"bench/a.cpp", "// Says what it does.\nint x;\n"}})).empty());
    CHECK(at(check_first_lines({{"bench/a.cpp", "#include <string>\n"}})) == "1");
    CHECK(at(check_first_lines({{"bench/a.cpp", "// A.\n"}})) == "1");
    CHECK(at(check_first_lines({{"bench/a.cpp", ""}})) == "1");
    CHECK(
        at(check_first_lines({{"bench/a.hpp", "// Says what it does.\n// More.\n#pragma once\n"}}))
            .empty());
    CHECK(at(check_first_lines(
              {{"bench/a.hpp", "// Says what it does.\n\n#include <string>\n"}})) == "2");
}

TEST_CASE("banned names, each in a place where it is banned")
{
    const std::string http = "proxy/http/a.cpp";
    CHECK(banned(http, "x\nstd::mutex lock;\n") == "2");
    CHECK(banned(http, "std::shared_mutex lock;") == "1");
    CHECK(banned(http, "std::condition_variable c;") == "1");
    CHECK(banned("proxy/exchange.cpp", "std::mutex lock;") == "1");
    CHECK(banned("tests/a.cpp", "std::this_thread::sleep_for(1s);") == "1");
    CHECK(banned("bench/a.cpp", "sleep_until(x);") == "1");
    CHECK(banned(http, "int i = std::rand();") == "1");
    CHECK(banned("tests/a.cpp", "srand(1);") == "1");
    CHECK(banned("bench/a.cpp", "std::regex expression;") == "1");
    CHECK(banned("proxy/settings/a.cpp", "std::regex expression;") == "1");
    CHECK(banned("proxy/store/a.cpp", "PQcancel(c);") == "1");
    CHECK(banned("tests/a.cpp", "std::system(\"ls\");") == "1");
    CHECK(banned("bench/a.cpp", "return system(line);") == "1");
    CHECK(banned(http, "std::thread t(f);") == "1");
    CHECK(banned("proxy/settings/a.cpp", "std::jthread t(f);") == "1");
    CHECK(banned("tests/a.cpp", "using namespace std;") == "1");
    CHECK(banned("proxy/core/a.cpp", "std::chrono::steady_clock::now()") == "1");
    CHECK(banned("proxy/settings/a.cpp", "std::chrono::system_clock::now()") == "1");
    CHECK(banned("proxy/upstream/a.cpp", "steady_clock::now()") == "1");
    CHECK(banned("proxy/run.cpp", "system_clock::now()") == "1");
    CHECK(banned("proxy/http/answer_text.cpp", "steady_clock::now()") == "1");
    for (const std::string marker : {"TO"
                                     "DO",
                                     "FIX"
                                     "ME",
                                     "XX"
                                     "X"}) {
        CHECK(banned("tests/a.cpp", "int x;\n// " + marker + ": later\n") == "2");
    }
}

TEST_CASE("names that only look banned, or stand where they are allowed")
{
    CHECK(banned("proxy/store/a.cpp", "std::mutex lock;\nstd::thread t;\nsteady_clock::now();")
              .empty());
    CHECK(banned("proxy/ops/a.cpp", "std::mutex lock;\nsystem_clock::now();").empty());
    CHECK(banned("proxy/asio_clock.cpp", "std::chrono::steady_clock::now()").empty());
    CHECK(banned("proxy/wire/watchdog.hpp", "std::chrono::steady_clock::now()").empty());
    CHECK(banned("proxy/http/answer_text.cpp", "std::chrono::system_clock::now()").empty());
    CHECK(banned("proxy/worker.cpp", "std::thread t;").empty());
    CHECK(banned("tests/a.cpp", "std::thread t;\nstd::mutex m;\nsteady_clock::now();").empty());
    CHECK(banned("proxy/settings/a.cpp", "std::thread::hardware_concurrency()").empty());
    CHECK(banned("proxy/http/a.cpp", "// std::mutex is not needed\nf(\"sleep_for\");").empty());
    CHECK(
        banned("proxy/http/a.cpp", "/* std::mutex\n */ f(R\"(std::regex)\"); 'x'; 1'000;").empty());
    CHECK(banned("proxy/http/a.cpp", "my_std::mutex_like x; filesystem(y); operand(z);").empty());
    CHECK(banned("proxy/http/a.cpp", "using namespace std::chrono_literals;").empty());
    CHECK(banned("proxy/http/a.cpp",
                 "int "
                 "TO"
                 "DOS = 1;")
              .empty());
    CHECK(banned("proxy/http/a.cpp", "char c = '\"'; std::rand(); char d = '\"';") == "1");
}

TEST_CASE("every file of the core has its test")
{
    const SourceFile code{"proxy/core/key.cpp", ""};
    const SourceFile header{"proxy/core/message.hpp", ""};
    const SourceFile test{"tests/core/key_test.cpp", ""};
    CHECK(at(check_core_tests({code, header, test})).empty());
    CHECK(at(check_core_tests({code, header})) == "1");
}

TEST_CASE("links lead to files and headings")
{
    const auto exists = [](const std::string& path) {
        return path == "README.md" || path == "docs/a.md" || path == "proxy/core/key.hpp";
    };
    const SourceFile page{"docs/a.md", "# The `first` Step, now!\n"};
    const auto linked = [&](std::string text) {
        return at(check_links({{"README.md", std::move(text)}, page}, exists));
    };
    CHECK(linked("[a](docs/a.md), [b](proxy/core/key.hpp) and [c](./docs/../docs/a.md)").empty());
    CHECK(linked("[a](https://example.org/gone) [b](mailto:a@b)").empty());
    CHECK(linked("[a](docs/a.md#the-first-step-now)").empty());
    CHECK(linked("# Here\n[a](#here)").empty());
    CHECK(linked("`[a](gone.md)`\n```\n[b](gone.md)\n```\n").empty());
    CHECK(linked("x\n[a](gone.md)") == "2");
    CHECK(linked("[a](docs/a.md) [b](docs/gone.md)") == "1");
    CHECK(linked("[a](docs/a.md#another-step)") == "1");
    CHECK(linked("# Here\n\n[a](#there)") == "3");
}
