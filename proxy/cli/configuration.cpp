// Loading settings for a command.
#include "cli/configuration.hpp"

#include "cli/exit_code.hpp"

#include <ostream>

namespace onceward::cli {

std::string config_path(const std::string& given, const Environment& environment)
{
    if (!given.empty()) return given;
    const auto named = environment("ONCEWARD_CONFIG");
    if (named && !named->empty()) return *named;
    return "/etc/onceward/onceward.yaml";
}

std::optional<Settings> load_settings(const Surroundings& around, const std::string& given,
                                      bool offline, bool quiet)
{
    const auto path = config_path(given, around.environment);
    LoadOptions options;
    options.offline = offline;
    auto loaded = load_file(path, around.environment, options);
    if (!loaded.ok() || !quiet) around.err << render_text(path, loaded.source, loaded.diagnostics);
    return std::move(loaded.settings);
}

int usage_error(const Surroundings& around, const std::string& message)
{
    around.err << "error: " << message << "\n";
    return ExitCode::usage;
}

}  // namespace onceward::cli
