// The command line as plain values; the only place with CLI11.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace onceward::cli {

struct RunCommand {
    std::string config;
    std::string upstream;
    std::string listen;
    std::string subject;
    std::string admin_listen;
    std::vector<std::string> forget;
};

enum class OutputFormat { table, json };

struct CheckCommand {
    std::string config;
    OutputFormat format = OutputFormat::table;
    bool strict = false;
    bool quiet = false;
};

struct ExplainCommand {
    std::string config;
    std::string method;
    std::string url;
    std::vector<std::string> headers;  // "Name: value"
    std::string data;                  // The body, or @FILE.
    bool trusted = false;              // As if it came through one of `trusted_proxies`.
};

struct KeysShowCommand {
    std::string config;
    std::string admin;
    std::string key;
    std::string subject;
    std::string route;
    std::string method;
    bool body = false;
    OutputFormat output = OutputFormat::table;
};

struct KeysListCommand {
    std::string config;
    std::string admin;
    std::string state;
    int limit = 50;
    OutputFormat output = OutputFormat::table;
};

struct DemoCommand {
    std::string proxy = "127.0.0.1:8080";
    std::string upstream = "127.0.0.1:3000";
    bool assert_expectations = false;
};

struct DemoUpstreamCommand {
    std::string listen = "127.0.0.1:3000";
    std::string delay;
    std::string fail;
    std::string die;
    int status = 0;
    long balance = 1'000;
    int workers = 1;
};

struct HealthcheckCommand {
    std::string config;
    std::string admin;
    std::string timeout = "2s";
    bool ready = false;
};

struct VersionCommand {};

using Command =
    std::variant<RunCommand, CheckCommand, ExplainCommand, KeysShowCommand, KeysListCommand,
                 DemoCommand, DemoUpstreamCommand, HealthcheckCommand, VersionCommand>;

// The command line asks for nothing to be run: help, or a mistake.
struct Told {
    int exit_code = 0;
    std::string text;  // Help belongs on stdout, a mistake on stderr.
};

// `arguments` without the program's name. Never throws, never ends the process.
std::variant<Command, Told> parse_command_line(std::vector<std::string> arguments);

}  // namespace onceward::cli
