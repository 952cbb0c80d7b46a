// The house rules, checked over the whole tree; prints how long its files and functions are.
#include "tidy/rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <map>

namespace {

using namespace onceward::tidy;

const std::filesystem::path root = ONCEWARD_SOURCE_DIR;

const Files& tree()
{
    static const Files files = read_tree(root, {"proxy", "tests", "bench"}, {".cpp", ".hpp"});
    return files;
}

const Files& pages()
{
    static const Files files = read_tree(
        root, {"README.md", "CONTRIBUTING.md", "proxy", "bench", "config", "docs", "tests"},
        {".md"});
    return files;
}

void report(const Violations& violations)
{
    for (const auto& violation : violations)
        FAIL_CHECK(violation.text());
}

struct Lengths {
    std::vector<std::size_t> files;
    std::vector<std::size_t> functions;
};

std::size_t quantile(std::vector<std::size_t> values, double share)
{
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const auto last = static_cast<double>(values.size() - 1);
    return values[static_cast<std::size_t>(last * share + 0.5)];
}

void print_row(std::string_view name, const Lengths& lengths)
{
    const auto cells = [](const std::vector<std::size_t>& values) {
        std::cout << std::setw(7) << values.size() << std::setw(7) << quantile(values, 0.5)
                  << std::setw(6) << quantile(values, 0.9) << std::setw(6) << quantile(values, 1);
    };
    std::cout << std::left << std::setw(10) << name << std::right;
    cells(lengths.files);
    std::cout << "  |";
    cells(lengths.functions);
    std::cout << "\n";
}

}  // namespace

TEST_CASE("the tree is where this test looks for it")
{
    CHECK(tree().size() > 50);
    CHECK(!pages().empty());
}

TEST_CASE("layers include only what lies below them")
{
    report(check_include_edges(tree()));
}

TEST_CASE("each library has one home")
{
    report(check_library_homes(tree()));
}

TEST_CASE("files of proxy/ have at most 400 lines, functions at most 70")
{
    report(check_file_lengths(tree()));
    report(check_function_lengths(tree()));
}

TEST_CASE("lines have at most 100 columns")
{
    report(check_line_widths(tree()));
}

TEST_CASE("every file says first what it is for")
{
    report(check_first_lines(tree()));
}

TEST_CASE("banned names do not appear")
{
    report(check_banned_names(tree()));
}

TEST_CASE("every file of the core has its test")
{
    report(check_core_tests(tree()));
}

TEST_CASE("links of the documentation lead somewhere")
{
    report(check_links(
        pages(), [](const std::string& path) { return std::filesystem::exists(root / path); }));
}

TEST_CASE("the table of lengths")
{
    std::map<std::string_view, Lengths> layers;
    Lengths all;
    for (const auto& file : tree()) {
        if (!file.path.starts_with("proxy/")) continue;
        auto& layer = layers[layer_of(file.path)];
        const auto lines = lines_of(file.text).size();
        layer.files.push_back(lines);
        all.files.push_back(lines);
        for (const auto& function : functions_of(file.text)) {
            layer.functions.push_back(function.lines);
            all.functions.push_back(function.lines);
        }
    }
    std::cout << "lines in proxy/    files median   p90   max  |  functions median p90 max\n";
    for (const auto& [name, lengths] : layers)
        print_row(name, lengths);
    print_row("all", all);
    CHECK(!all.functions.empty());
}
