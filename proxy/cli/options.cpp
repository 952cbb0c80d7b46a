// Commands and their options.
#include "cli/options.hpp"

#include "cli/exit_code.hpp"
#include "settings/words.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <map>

namespace onceward::cli {

namespace {

const std::map<std::string, OutputFormat> table_or_json{{"table", OutputFormat::table},
                                                        {"json", OutputFormat::json}};
const std::map<std::string, OutputFormat> text_or_json{{"text", OutputFormat::table},
                                                       {"json", OutputFormat::json}};

// One command being described: its parser, and the values that it fills.
template <class Values>
struct Described {
    CLI::App* app;
    std::shared_ptr<Values> values;
};

class CommandLine {
public:
    CommandLine()
        : app_("onceward: makes a retried POST safe in front of an API that is not.", "onceward")
    {
        app_.require_subcommand(1);
        app_.set_version_flag("--version", "onceward: see `onceward version`");
        run();
        check();
        explain();
        keys();
        demo();
        demo_upstream();
        healthcheck();
        describe<VersionCommand>(app_, "version",
                                 "Print the version of this program and of its libraries.");
    }

    std::variant<Command, Told> parse(std::vector<std::string> arguments)
    {
        if (auto unknown = unknown_command(arguments)) return *unknown;
        try {
            std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back.
            app_.parse(std::move(arguments));
        } catch (const CLI::CallForHelp&) {
            return Told{ExitCode::ok, app_.help()};
        } catch (const CLI::CallForVersion&) {
            return Command(VersionCommand{});
        } catch (const CLI::ParseError& error) {
            std::string hint;
            for (const auto* app = &deepest(); app->get_parent(); app = app->get_parent())
                hint = " " + app->get_name() + hint;
            hint = "onceward" + hint;
            return Told{ExitCode::usage, std::string("error: ") + error.what() + "\n  = see `" +
                                             hint + " --help`\n"};
        }
        return chosen_();
    }

private:
    template <class Values>
    Described<Values> describe(CLI::App& parent, const std::string& name,
                               const std::string& purpose)
    {
        auto values = std::make_shared<Values>();
        auto* app = parent.add_subcommand(name, purpose);
        app->final_callback([this, values] { chosen_ = [values] { return Command(*values); }; });
        return {app, values};
    }

    // The command whose help is meant.
    const CLI::App& deepest() const
    {
        const CLI::App* app = &app_;
        while (!app->get_subcommands().empty())
            app = app->get_subcommands().front();
        return *app;
    }

    static std::vector<std::string> names_of(const CLI::App& app)
    {
        std::vector<std::string> names;
        for (const auto* command : app.get_subcommands({}))
            names.push_back(command->get_name());
        return names;
    }

    // CLI11 would only say that something unexpected was given.
    std::optional<Told> unknown_command(const std::vector<std::string>& arguments) const
    {
        const CLI::App* app = &app_;
        for (const auto& word : arguments) {
            if (word.starts_with('-')) return std::nullopt;
            const auto names = names_of(*app);
            if (names.empty()) return std::nullopt;
            if (std::find(names.begin(), names.end(), word) == names.end())
                return unknown_word(word, names);
            app = app->get_subcommand(word);
        }
        return std::nullopt;
    }

    static Told unknown_word(const std::string& word, const std::vector<std::string>& names)
    {
        std::string text = "error: unknown command `" + word + "`";
        const std::vector<std::string_view> known(names.begin(), names.end());
        if (const auto meant = nearest(word, known)) {
            text.append("; did you mean `").append(*meant).append("`?");
        }
        text.append("\n  = commands:");
        for (const auto& name : names)
            text.append(" ").append(name);
        return Told{ExitCode::usage, text + "\n"};
    }

    static CLI::Option* config_option(CLI::App& app, std::string& config)
    {
        return app.add_option(
            "-c,--config", config,
            "Configuration file; default: $ONCEWARD_CONFIG, /etc/onceward/onceward.yaml");
    }

    static void admin_option(CLI::App& app, std::string& admin)
    {
        app.add_option("--admin", admin,
                       "HOST:PORT of the admin listener; default: from the configuration");
    }

    static void output_option(CLI::App& app, OutputFormat& output)
    {
        app.add_option("-o,--output", output, "table or json")
            ->transform(CLI::CheckedTransformer(table_or_json, CLI::ignore_case).description(""));
    }

    void run()
    {
        auto [app, values] =
            describe<RunCommand>(app_, "run", "Run the proxy until SIGTERM or SIGINT.");
        auto* config = config_option(*app, values->config);
        auto* upstream =
            app->add_option("--upstream", values->upstream,
                            "Run without a file, in front of this API: http://HOST:PORT");
        upstream->excludes(config);
        app->add_option("--listen", values->listen, "HOST:PORT to serve; default 0.0.0.0:8080")
            ->needs(upstream);
        app->add_option("--subject", values->subject,
                        "Whose key is it? credential, credential:NAME, header:NAME or shared")
            ->needs(upstream);
        app->add_option("--admin-listen", values->admin_listen,
                        "HOST:PORT of the admin listener (loopback)");
        app->add_option("--forget", values->forget,
                        "Accept that the keys of this route id, or of a changed subject form, "
                        "become new ones")
            ->allow_extra_args(false);
    }

    void check()
    {
        auto [app, values] = describe<CheckCommand>(
            app_, "check", "Check a configuration file, without touching anything else.");
        config_option(*app, values->config);
        app->add_option("--format", values->format, "text or json")
            ->transform(CLI::CheckedTransformer(text_or_json, CLI::ignore_case).description(""));
        app->add_flag("--strict", values->strict, "Exit 8 when there are warnings");
        app->add_flag("-q,--quiet", values->quiet, "Print problems only");
    }

    void explain()
    {
        auto [app, values] = describe<ExplainCommand>(
            app_, "explain", "Tell what would be done with a request, without sending it.");
        config_option(*app, values->config);
        app->add_option("METHOD", values->method, "As the client sends it")->required();
        app->add_option("URL", values->url, "http://host/path?query, or the path alone")
            ->required();
        app->add_option("-H,--header", values->headers, "'Name: value'; may be repeated")
            ->allow_extra_args(false);
        app->add_option("-d,--data", values->data, "The body, or @FILE");
        app->add_flag("--trusted", values->trusted,
                      "As if it came through one of server.trusted_proxies");
    }

    void keys()
    {
        auto* keys = app_.add_subcommand("keys", "Look at the records of keys.");
        keys->require_subcommand(1);
        keys_show(*keys);
        keys_list(*keys);
    }

    void keys_show(CLI::App& keys)
    {
        auto [app, values] = describe<KeysShowCommand>(keys, "show", "Show the record of one key.");
        config_option(*app, values->config);
        admin_option(*app, values->admin);
        app->add_option("KEY", values->key, "As in the client's header")->required();
        app->add_option("--route", values->route, "Name of the route that the request met")
            ->required();
        app->add_option(
            "--subject", values->subject,
            "The caller: the value of the field that keys.subject names; not for `shared`");
        app->add_option("--method", values->method, "When the route takes several methods");
        app->add_flag("--body", values->body, "Show the first 2 KiB of the stored body");
        output_option(*app, values->output);
    }

    void keys_list(CLI::App& keys)
    {
        auto [app, values] =
            describe<KeysListCommand>(keys, "list", "List records that wait for an operator.");
        config_option(*app, values->config);
        admin_option(*app, values->admin);
        app->add_option("--state", values->state, "unknown")
            ->required()
            ->check(CLI::IsMember({"unknown"}));
        app->add_option("--limit", values->limit, "At most so many, oldest first")
            ->check(CLI::Range(1, 200));
        output_option(*app, values->output);
    }

    void demo()
    {
        auto [app, values] = describe<DemoCommand>(
            app_, "demo", "Retry charges through a proxy and count what was executed.");
        app->add_option("--proxy", values->proxy, "HOST:PORT of the proxy; default 127.0.0.1:8080");
        app->add_option("--upstream", values->upstream,
                        "HOST:PORT of `onceward demo-upstream`; default 127.0.0.1:3000");
        app->add_flag("--assert", values->assert_expectations,
                      "Exit 1 when anything is not as promised");
    }

    void demo_upstream()
    {
        auto [app, values] = describe<DemoUpstreamCommand>(
            app_, "demo-upstream",
            "Run a legacy account service that charges again on every retry.");
        app->add_option("--listen", values->listen, "HOST:PORT; default 127.0.0.1:3000");
        app->add_option("--delay", values->delay, "Between the charge and its answer: 200ms, 2s");
        app->add_option("--fail", values->fail,
                        "STATUS or STATUS:SHARE of requests to refuse: 500:0.1");
        app->add_option("--status", values->status, "Charge, but answer with this status")
            ->check(CLI::Range(200, 599));
        app->add_option(
            "--die", values->die,
            "before-charge, after-charge, mid-body, close-delimited or exit: break off instead");
        app->add_option("--balance", values->balance, "Of a new account; default 1000");
        app->add_option("--workers", values->workers, "Threads; default 1")
            ->check(CLI::Range(1, 64));
    }

    void healthcheck()
    {
        auto [app, values] = describe<HealthcheckCommand>(app_, "healthcheck",
                                                          "Ask a running proxy whether it lives.");
        config_option(*app, values->config);
        admin_option(*app, values->admin);
        app->add_flag("--ready", values->ready, "Ask whether it wants traffic");
        app->add_option("--timeout", values->timeout, "default 2s");
    }

    CLI::App app_;
    std::function<Command()> chosen_;
};

}  // namespace

std::variant<Command, Told> parse_command_line(std::vector<std::string> arguments)
{
    return CommandLine().parse(std::move(arguments));
}

}  // namespace onceward::cli
