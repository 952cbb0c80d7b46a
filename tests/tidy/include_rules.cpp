// The layers of the house, as a table, and the edges between them.
#include "tidy/rules.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace onceward::tidy {

namespace {

struct Layer {
    std::string_view name;
    std::vector<std::string_view> may_include;  // Layers; its own is always allowed.
    std::vector<std::string_view>
        libraries;                // Beginnings of foreign headers; std is always allowed.
    bool system_headers = false;  // May call the operating system itself.
};

const std::vector<std::string_view> everything{"core",     "ports", "story", "clock", "wire",
                                               "store",    "gate",  "http",  "ops",   "upstream",
                                               "settings", "cli",   "main",  "bench"};

const std::vector<Layer>& layers()
{
    static const std::vector<Layer> table{
        {"core", {}, {"openssl/"}, false},
        {"ports", {"core"}, {"boost/asio/awaitable.hpp", "boost/system/"}, false},
        {"story", {"core", "ports"}, {"boost/asio/"}, false},
        {"clock", {"core", "ports"}, {"boost/asio/"}, false},
        {"wire", {"core", "ports"}, {"boost/"}, true},
        {"store",
         {"core", "ports", "wire"},
         {"boost/asio/", "boost/system/", "sqlite3.h", "libpq-fe.h"},
         true},
        {"gate", {"core", "ports", "wire"}, {"boost/", "openssl/", "hiredis/"}, true},
        {"upstream", {"core", "ports", "wire"}, {"boost/", "expat.h", "nlohmann/"}, true},
        {"http", {"core", "ports", "story", "wire", "upstream"}, {"boost/", "nlohmann/"}, true},
        {"settings", {"core"}, {"yaml.h", "re2/", "nlohmann/"}, true},
        {"ops", {"core", "ports"}, {"boost/", "spdlog/", "nlohmann/"}, true},
        {"cli", everything, {"boost/", "nlohmann/", "openssl/", "CLI/"}, true},
        {"main", everything, {"boost/"}, true},
        {"bench", {}, {"boost/", "nlohmann/"}, true},
    };
    return table;
}

// Files that lie in proxy/ itself, by their name without extension.
const std::map<std::string_view, std::string_view>& top_files()
{
    static const std::map<std::string_view, std::string_view> table{
        {"exchange", "story"},      {"janitor", "story"}, {"answers", "story"},
        {"recorded_tail", "story"}, {"reply", "story"},   {"asio_clock", "clock"},
        {"worker", "main"},         {"banner", "main"},   {"run", "main"},
        {"main", "main"},
    };
    return table;
}

const Layer* find_layer(std::string_view name)
{
    const auto found = std::find_if(layers().begin(), layers().end(),
                                    [name](const Layer& layer) { return layer.name == name; });
    return found == layers().end() ? nullptr : &*found;
}

bool contains(const std::vector<std::string_view>& list, std::string_view name)
{
    return std::find(list.begin(), list.end(), name) != list.end();
}

std::string_view stem(std::string_view path)
{
    return path.substr(0, path.rfind('.'));
}

bool is_standard_header(std::string_view header)
{
    return header.find_first_of("./") == std::string_view::npos;
}

// Headers of the C library and the kernel, spelled the C way.
bool is_system_header(std::string_view header)
{
    if (header.starts_with("sys/") || header.starts_with("linux/") || header.starts_with("arpa/") ||
        header.starts_with("netinet/")) {
        return true;
    }
    static const std::set<std::string_view> names{"unistd.h", "fcntl.h", "poll.h",  "signal.h",
                                                  "netdb.h",  "time.h",  "errno.h", "pthread.h"};
    return names.contains(header);
}

// Where a quoted include leads: a path from the root. Ours are spelled from proxy/, bench's from
// bench/.
std::string resolved(std::string_view path, const std::string& target)
{
    if (target.starts_with("../bench/")) return target.substr(3);
    return (path.starts_with("bench/") ? "bench/" : "proxy/") + target;
}

std::string quote(std::string_view text)
{
    return "`" + std::string(text) + "`";
}

std::string check_quoted(const SourceFile& file, const Layer& layer, const std::string& target,
                         const std::set<std::string_view>& known)
{
    const auto path = resolved(file.path, target);
    if (!known.contains(path)) {
        return "no file " + quote(path) + ": spell includes from proxy/ (bench: from bench/)";
    }
    const auto other = layer_of(path);
    if (other == layer.name || contains(layer.may_include, other)) return {};
    return "layer " + quote(layer.name) + " may not include layer " + quote(other) +
           ": turn the dependency round or go through a port";
}

std::string check_bracketed(const Layer& layer, std::string_view header)
{
    if (is_standard_header(header)) return {};
    const auto allowed = [header](std::string_view start) { return header.starts_with(start); };
    if (std::any_of(layer.libraries.begin(), layer.libraries.end(), allowed)) return {};
    if (is_system_header(header) && layer.system_headers) return {};
    return "layer " + quote(layer.name) + " may not include <" + std::string(header) +
           ">: keep it behind the layer that owns it";
}

}  // namespace

std::string_view layer_of(std::string_view path)
{
    if (path.starts_with("bench/")) return "bench";
    if (!path.starts_with("proxy/")) return {};
    path.remove_prefix(6);
    const auto slash = path.find('/');
    if (slash != std::string_view::npos) {
        const auto* layer = find_layer(path.substr(0, slash));
        return layer != nullptr ? layer->name : std::string_view{};
    }
    const auto found = top_files().find(stem(path));
    return found != top_files().end() ? found->second : std::string_view{};
}

Violations check_include_edges(const Files& files)
{
    std::set<std::string_view> known;
    for (const auto& file : files)
        known.insert(file.path);
    Violations violations;
    for (const auto& file : files) {
        if (!file.path.starts_with("proxy/") && !file.path.starts_with("bench/")) continue;
        const auto* layer = find_layer(layer_of(file.path));
        if (layer == nullptr) {
            violations.push_back({file.path, 1, "belongs to no layer: add it to the table"});
            continue;
        }
        for (const auto& include : includes_of(file.text)) {
            auto rule = include.quoted ? check_quoted(file, *layer, include.target, known)
                                       : check_bracketed(*layer, include.target);
            if (!rule.empty()) violations.push_back({file.path, include.line, std::move(rule)});
        }
    }
    return violations;
}

Violations check_library_homes(const Files& files)
{
    constexpr std::string_view libraries[] = {"sqlite3.h", "yaml.h", "spdlog/",    "re2/",
                                              "expat.h",   "CLI/",   "libpq-fe.h", "hiredis/"};
    std::map<std::string_view, std::string_view> homes;
    Violations violations;
    for (const auto& file : files) {
        if (!file.path.starts_with("proxy/")) continue;
        for (const auto& include : includes_of(file.text)) {
            if (include.target.starts_with("nlohmann/") && file.path.ends_with(".hpp")) {
                violations.push_back({file.path, include.line, "nlohmann stays out of headers"});
            }
            for (const auto library : libraries) {
                if (!include.target.starts_with(library)) continue;
                const auto home = homes.emplace(library, stem(file.path)).first->second;
                if (home == stem(file.path)) continue;
                violations.push_back({file.path, include.line,
                                      quote(library) + " already lives in " + quote(home) +
                                          ": a library has one .cpp/.hpp pair"});
            }
        }
    }
    return violations;
}

}  // namespace onceward::tidy
