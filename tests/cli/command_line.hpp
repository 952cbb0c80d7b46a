// The program with a world of its own: captured output, a made-up environment, long-running parts
// that only note that they were started.
#pragma once

#include "../bench/demo.hpp"
#include "../bench/demo_upstream.hpp"
#include "cli/program.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace onceward::cli {

class CommandLine {
public:
    std::ostringstream out;
    std::ostringstream err;
    std::map<std::string, std::string, std::less<>> environment;
    std::optional<Settings> ran;
    RunOptions options;
    std::optional<demo::DemoOptions> demo;
    std::optional<demo::DemoUpstreamOptions> demo_upstream;
    int exit_code_of_run = 0;

    int operator()(std::vector<std::string> arguments)
    {
        const auto lookup = [this](std::string_view name) -> std::optional<std::string> {
            const auto found = environment.find(name);
            return found == environment.end() ? std::nullopt : std::optional(found->second);
        };
        const Programs programs{[this](const Settings& settings, const RunOptions& given) {
                                    ran = settings;
                                    options = given;
                                    return exit_code_of_run;
                                },
                                [this](const demo::DemoOptions& given) {
                                    demo = given;
                                    return 0;
                                },
                                [this](const demo::DemoUpstreamOptions& given) {
                                    demo_upstream = given;
                                    return 0;
                                }};
        out.str("");
        err.str("");
        return run_program(std::move(arguments), {out, err, lookup, programs});
    }
};

// A directory that goes away with its files.
class Directory {
public:
    Directory()
    {
        std::string name =
            (std::filesystem::temp_directory_path() / "onceward-cli-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
        path_ = name;
    }
    ~Directory() { std::filesystem::remove_all(path_); }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;

    std::string file(const std::string& name, const std::string& text) const
    {
        const auto path = path_ / name;
        std::ofstream(path) << text;
        return path.string();
    }
    std::string path(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

inline std::string sample_config(const std::string& sqlite)
{
    return "version: 1\n"
           "server:\n"
           "  listen: 127.0.0.1:8080\n"
           "  upstream: http://127.0.0.1:3000\n"
           "store:\n"
           "  sqlite: " +
           sqlite +
           "\n"
           "  ephemeral: true\n"
           "keys:\n"
           "  subject: credential\n"
           "tiers:\n"
           "  payments:\n"
           "    retention: 14d\n"
           "    lease: 60s\n"
           "    retry_budget: { total: 15m, skew: 2m, replay_window: 7d }\n"
           "routes:\n"
           "  - name: orders\n"
           "    match: { method: POST, path_prefix: /v1/orders }\n"
           "    tier: payments\n"
           "    when_missing: pass\n"
           "  - name: charges\n"
           "    match: { method: POST, path: /v1/charges }\n"
           "    tier: payments\n";
}

}  // namespace onceward::cli
