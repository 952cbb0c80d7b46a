// Parsing the command line and executing what it says.
#include "cli/program.hpp"

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"

#include <exception>
#include <ostream>

namespace onceward::cli {

int run_program(std::vector<std::string> arguments, const Surroundings& around)
{
    try {
        const auto parsed = parse_command_line(std::move(arguments));
        if (const auto* told = std::get_if<Told>(&parsed)) {
            (told->exit_code == ExitCode::ok ? around.out : around.err) << told->text;
            return told->exit_code;
        }
        return std::visit([&around](const auto& command) { return execute(command, around); },
                          std::get<Command>(parsed));
    } catch (const std::exception& failure) {
        around.err << "error: " << failure.what() << "\n";
        return ExitCode::unexpected;
    }
}

}  // namespace onceward::cli
