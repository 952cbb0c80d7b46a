// Lengths, first lines, banned names, tests that mirror the core.
#include "tidy/rules.hpp"

#include <algorithm>
#include <set>

namespace onceward::tidy {

namespace {

struct Banned {
    std::string_view name;
    std::string_view instead;
    std::vector<std::string_view> where;   // Beginnings of paths; none: everywhere.
    std::vector<std::string_view> except;  // Parts of paths.
};

const std::vector<std::string_view> request_path{
    "proxy/core/",         "proxy/ports/", "proxy/wire/",    "proxy/gate/",
    "proxy/upstream/",     "proxy/http/",  "proxy/exchange", "proxy/answers",
    "proxy/recorded_tail", "proxy/reply",  "proxy/janitor",  "proxy/asio_clock"};

constexpr std::string_view no_mutex = "the request path shares nothing between threads";
constexpr std::string_view own_time = "core::Clock's alarm; a test owns its clock";
constexpr std::string_view own_clock = "the Clock port, or the store's own clock";
constexpr std::string_view own_threads =
    "the worker's executor; threads are made in worker, run and store";
// The clock's adapter, the watchdog that keeps deadlines of sockets, the process's own drain, and
// the two layers that measure for others to read.
const std::vector<std::string_view> clocks_live_in{"_clock.", "proxy/wire/watchdog.", "proxy/run.",
                                                   "proxy/store/", "proxy/ops/"};
// Wall time is for display: the Date field, logs, the files of the store. It never decides
// anything.
const std::vector<std::string_view> wall_clocks_live_in{"proxy/http/answer_text.", "proxy/store/",
                                                        "proxy/ops/"};
const std::vector<std::string_view> threads_live_in{"proxy/store/", "proxy/worker.", "proxy/run.",
                                                    "proxy/main."};

// Case R06 waits for nothing: its pauses make three segments of what would be one, so they are its
// input.
constexpr std::string_view segment_pauses = "tests/wire/wire_cases_request_test.";

const std::vector<Banned>& banned_names()
{
    static const std::vector<Banned> table{
        {"std::mutex", no_mutex, request_path, {}},
        {"std::shared_mutex", no_mutex, request_path, {}},
        {"std::recursive_mutex", no_mutex, request_path, {}},
        {"std::condition_variable", no_mutex, request_path, {}},
        {"sleep_for", own_time, {}, {segment_pauses}},
        {"sleep_until", own_time, {}, {}},
        {"usleep", own_time, {}, {}},
        {"std::rand", "core::random_token, or a seeded engine in tests", {}, {}},
        {"srand", "core::random_token, or a seeded engine in tests", {}, {}},
        {"std::regex", "RE2: it runs in linear time", {"proxy/", "bench/"}, {}},
        {"PQcancel", "a deadline makes the statement ambiguous (D6)", {}, {}},
        {"system(", "posix_spawn with an argument list", {}, {}},
        {"std::thread", own_threads, {"proxy/"}, threads_live_in},
        {"std::jthread", own_threads, {"proxy/"}, threads_live_in},
        {"using namespace std;", "name what you use", {}, {}},
        {"steady_clock::now", own_clock, {"proxy/"}, clocks_live_in},
        {"system_clock::now", own_clock, {"proxy/"}, wall_clocks_live_in},
        {"high_resolution_clock", "steady_clock", {}, {}},
    };
    return table;
}

bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Where `name` stands as a word of its own, or npos.
std::size_t find_word(std::string_view text, std::string_view name, std::size_t from = 0)
{
    for (auto at = text.find(name, from); at != std::string_view::npos;
         at = text.find(name, at + 1)) {
        const bool begins = at == 0 || !is_word(text[at - 1]);
        const auto end = at + name.size();
        const bool ends = end == text.size() || !is_word(name.back()) || !is_word(text[end]);
        if (begins && ends) return at;
    }
    return std::string_view::npos;
}

bool applies(const Banned& banned, std::string_view path)
{
    const auto begins = [path](std::string_view start) { return path.starts_with(start); };
    const auto holds = [path](std::string_view part) {
        return path.find(part) != std::string_view::npos;
    };
    if (std::any_of(banned.except.begin(), banned.except.end(), holds)) return false;
    return banned.where.empty() || std::any_of(banned.where.begin(), banned.where.end(), begins);
}

bool names_only_the_core_count(std::string_view line, std::size_t at)
{
    return line.substr(at).starts_with("std::thread::hardware_concurrency");
}

void check_markers(const SourceFile& file, Violations& violations)
{
    constexpr std::string_view markers[] = {
        "TO"
        "DO",
        "FIX"
        "ME",
        "XX"
        "X"};
    const auto lines = lines_of(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        for (const auto marker : markers) {
            if (find_word(lines[i], marker) == std::string_view::npos) continue;
            violations.push_back(
                {file.path, i + 1, "`" + std::string(marker) + "`: do it, or open an issue"});
        }
    }
}

std::size_t columns_of(std::string_view line)
{
    return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

bool is_header(std::string_view path)
{
    return path.ends_with(".hpp");
}

std::string_view first_code_line(std::string_view text)
{
    for (const auto line : lines_of(text)) {
        if (!line.empty() && !line.starts_with("//")) return line;
    }
    return {};
}

}  // namespace

Violations check_file_lengths(const Files& files)
{
    Violations violations;
    for (const auto& file : files) {
        const auto lines = lines_of(file.text).size();
        if (!file.path.starts_with("proxy/") || lines <= file_lines_max) continue;
        violations.push_back({file.path, file_lines_max + 1,
                              std::to_string(lines) + " lines: split the file at a seam (max " +
                                  std::to_string(file_lines_max) + ")"});
    }
    return violations;
}

Violations check_function_lengths(const Files& files)
{
    Violations violations;
    for (const auto& file : files) {
        if (!file.path.starts_with("proxy/")) continue;
        for (const auto& function : functions_of(file.text)) {
            if (function.lines <= function_lines_max) continue;
            violations.push_back({file.path, function.line,
                                  "a function of " + std::to_string(function.lines) +
                                      " lines: move logic into leaves (max " +
                                      std::to_string(function_lines_max) + ")"});
        }
    }
    return violations;
}

Violations check_line_widths(const Files& files)
{
    Violations violations;
    for (const auto& file : files) {
        const auto lines = lines_of(file.text);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const auto columns = columns_of(lines[i]);
            if (columns <= columns_max) continue;
            violations.push_back({file.path, i + 1,
                                  std::to_string(columns) + " columns: run clang-format (max " +
                                      std::to_string(columns_max) + ")"});
        }
    }
    return violations;
}

Violations check_first_lines(const Files& files)
{
    constexpr std::size_t sentence_min = 12;
    Violations violations;
    for (const auto& file : files) {
        const auto lines = lines_of(file.text);
        const bool says =
            !lines.empty() && lines[0].starts_with("// ") && lines[0].size() >= sentence_min;
        if (!says) {
            violations.push_back(
                {file.path, 1, "the first line says in a sentence what this file is for"});
        }
        if (is_header(file.path) && first_code_line(file.text) != "#pragma once") {
            violations.push_back({file.path, 2, "a header begins with #pragma once"});
        }
    }
    return violations;
}

Violations check_banned_names(const Files& files)
{
    Violations violations;
    for (const auto& file : files) {
        check_markers(file, violations);
        const std::string code = code_of(file.text);
        const auto lines = lines_of(code);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            for (const auto& banned : banned_names()) {
                const auto at = find_word(lines[i], banned.name);
                if (at == std::string_view::npos || !applies(banned, file.path)) continue;
                if (names_only_the_core_count(lines[i], at)) continue;
                violations.push_back(
                    {file.path, i + 1,
                     "`" + std::string(banned.name) +
                         "` is banned here; instead: " + std::string(banned.instead)});
            }
        }
    }
    return violations;
}

Violations check_core_tests(const Files& files)
{
    constexpr std::string_view core = "proxy/core/";
    std::set<std::string_view> known;
    for (const auto& file : files)
        known.insert(file.path);
    Violations violations;
    for (const auto& file : files) {
        if (!file.path.starts_with(core) || !file.path.ends_with(".cpp")) continue;
        const auto name = file.path.substr(core.size(), file.path.size() - core.size() - 4);
        const std::string test = "tests/core/" + name + "_test.cpp";
        if (!known.contains(test))
            violations.push_back({file.path, 1, "has no test: write " + test});
    }
    return violations;
}

}  // namespace onceward::tidy
