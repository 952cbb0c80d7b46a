// The configuration as plain values, complete with defaults; what the YAML file becomes.
#pragma once

#include "core/plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace onceward {

// A plain-text origin server: http://host[:port]. The path part is not allowed: targets are
// forwarded unchanged.
struct UpstreamUrl {
    std::string text;  // As configured.
    std::string host;
    std::string port = "80";
    bool operator==(const UpstreamUrl&) const = default;
};

struct ListenAddress {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;  // 0: any free port; the `listening` line tells which.
};

// An IP network; a single address is one with a full-length prefix.
struct Network {
    std::string address;
    int prefix = 0;
};

struct ServerSettings {
    ListenAddress listen{"0.0.0.0", 8080};
    int workers = 0;                     // Threads; 0: as many as cores.
    std::vector<UpstreamUrl> upstreams;  // [0] is the default one.
    std::vector<Network> trusted_proxies;
    std::size_t request_head_max = 32 << 10;  // Bytes (HTP-17); at most 64 KiB.
    std::size_t request_body_max =
        1 << 20;  // Bytes of a keyed request, unless its route says otherwise.
    std::size_t stored_response_max = 256 << 10;
    std::size_t connections_max = 20'000;
    core::Millis timeout{std::chrono::seconds{60}};       // Unguarded: without progress.
    core::Millis head_timeout{std::chrono::seconds{10}};  // First byte of a head to its end.
    core::Millis body_timeout{std::chrono::seconds{30}};  // A keyed request's whole body.
    core::Millis idle_timeout{std::chrono::seconds{60}};  // Between requests of one connection.
    core::Millis upstream_idle{
        std::chrono::seconds{4}};  // How long an idle upstream connection is kept.
    core::Millis drain_delay{0};
    core::Millis drain_timeout{std::chrono::seconds{30}};
    std::string via;           // Pseudonym; empty: no Via field (decision 23).
    std::string problem_base;  // Empty: urn:onceward:problem:
};

struct ListenerSettings {
    std::optional<ListenAddress> listen;
};

struct LogSettings {
    bool json = true;
    std::string level = "info";
    bool full_keys = false;  // `keys: full`.
};

struct StoreSettings {
    std::string sqlite;  // Path of the embedded store's file; empty with `postgres`.
    std::optional<std::string>
        postgres;  // Not built yet: `run` must refuse (UnbuiltSetting::blocks_run).
    std::optional<std::string> redis;  // Accepted, not built yet.
    bool single_node = false;          // Needed inside a Kubernetes pod.
    bool ephemeral = false;            // Allows tmpfs and overlayfs: records die with the machine.
    std::string secret;                // `keys.secret`: inline.
    std::string secret_file;           // Empty for the embedded store: made beside its file.
};

// A setting that was accepted although what it asks for is not built yet (W90, W91); for the
// banner.
struct UnbuiltSetting {
    std::string path;         // store.postgres
    std::string instead;      // What happens instead.
    bool blocks_run = false;  // `run` must refuse to start: what would happen instead is not safe.
};

struct Settings {
    std::string file;  // Where it came from; empty: command line only.
    ServerSettings server;
    ListenerSettings observability;
    ListenerSettings admin{ListenAddress{"127.0.0.1", 9480}};
    LogSettings log;
    StoreSettings store;
    std::size_t waiters_max = 4'096;  // Duplicates that wait at once, per worker.
    std::vector<core::Tier> tiers;
    core::Policy policy;
    std::vector<UnbuiltSetting> unbuilt;
};

}  // namespace onceward
