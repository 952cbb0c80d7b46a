// The start-up banner.
#include "banner.hpp"

#include "ops/version.hpp"

#include <sstream>

namespace onceward {

namespace {

std::string in_words(core::Millis duration)
{
    using namespace std::chrono;
    const auto seconds_left = duration_cast<seconds>(duration).count();
    if (seconds_left % 86'400 == 0 && seconds_left > 0)
        return std::to_string(seconds_left / 86'400) + "d";
    if (seconds_left % 3'600 == 0 && seconds_left > 0)
        return std::to_string(seconds_left / 3'600) + "h";
    if (seconds_left % 60 == 0 && seconds_left > 0) return std::to_string(seconds_left / 60) + "m";
    if (duration % seconds{1} == core::Millis::zero()) return std::to_string(seconds_left) + "s";
    return std::to_string(duration.count()) + "ms";
}

std::string_view mode_of(const core::Route& route)
{
    switch (route.mode) {
        case core::Mode::enforce: return "enforce";
        case core::Mode::observe: return "observe (runs as off)";
        case core::Mode::off: return "off";
    }
    return "off";
}

void print_routes(std::ostream& out, const Settings& settings)
{
    for (const auto& route : settings.policy.routes.routes()) {
        out << "  route " << route->name << ": " << mode_of(*route) << ", tier " << route->tier.name
            << ", kept " << in_words(route->tier.retention) << ", lease "
            << in_words(route->tier.lease) << ", timeout " << in_words(route->timeout) << "\n";
    }
}

}  // namespace

std::string banner(const Settings& settings, const std::string& equivalent_yaml,
                   std::size_t crashed)
{
    std::ostringstream out;
    out << "onceward " << version
        << ": at most one upstream execution per key; what cannot be known is recorded"
        << " as unknown\n"
        << "  store " << settings.store.sqlite
        << ": embedded, every outcome is on disk before it is answered; one instance only\n";
    if (settings.store.ephemeral)
        out << "  store.ephemeral: these records may die with this machine\n";
    out << "  upstream " << settings.server.upstreams.front().text << ", keys of "
        << settings.policy.subject.form() << "\n";
    print_routes(out, settings);
    for (const auto& unbuilt : settings.unbuilt) {
        out << "  not built yet: " << unbuilt.path << ": " << unbuilt.instead << "\n";
    }
    if (crashed > 0) {
        out << "  " << crashed
            << " request(s) were running when the process before this one ended: their outcome"
            << " is unknown (onceward keys list --state unknown)\n";
    }
    if (!equivalent_yaml.empty()) out << "  the same as this file:\n" << equivalent_yaml << "\n";
    return out.str();
}

}  // namespace onceward
