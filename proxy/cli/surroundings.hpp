// What a command sees of the world, so that tests can be its world.
#pragma once

#include "run.hpp"
#include "settings/load.hpp"

#include <functional>
#include <iosfwd>

namespace onceward::demo {
struct DemoOptions;
struct DemoUpstreamOptions;
}  // namespace onceward::demo

namespace onceward::cli {

// The long-running parts, each of which returns the exit code.
struct Programs {
    std::function<int(const Settings&, const RunOptions&)> run_proxy;
    std::function<int(const demo::DemoOptions&)> run_demo;
    std::function<int(const demo::DemoUpstreamOptions&)> run_demo_upstream;
};

struct Surroundings {
    std::ostream& out;  // Data.
    std::ostream& err;  // Diagnostics.
    Environment environment;
    Programs programs;
};

}  // namespace onceward::cli
