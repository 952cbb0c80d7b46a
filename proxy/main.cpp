// The executable: hands the command line over, together with the programs that it may start.
#include "../bench/demo.hpp"
#include "../bench/demo_upstream.hpp"
#include "cli/program.hpp"
#include "run.hpp"

#include <iostream>

int main(int argc, char** argv)
{
    const onceward::cli::Programs programs{onceward::run_proxy, onceward::demo::run_demo,
                                           onceward::demo::run_demo_upstream};
    const onceward::cli::Surroundings around{std::cout, std::cerr, onceward::process_environment(),
                                             programs};
    const int code = onceward::cli::run_program({argv + 1, argv + argc}, around);
    std::cout.flush();
    return code;
}
