// The real binary as a child process, with a configuration and a directory of its own.
#pragma once

#include "wire/client.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace onceward::wire {

// A fresh directory, removed at the end.
class Directory {
public:
    Directory();
    ~Directory();
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    std::string file(std::string_view name) const;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

// What a test changes of the usual configuration; every member is YAML.
struct Configuration {
    std::uint16_t upstream = 0;  // Port of the origin.
    std::string server;          // Further lines of `server:`, each "  name: value\n".
    std::string keys = "{ subject: shared }";
    std::string tier = "{ retention: 1h, lease: 60s }";  // Of tier `t`.
    std::string routes;  // Absent: `guarded` on POST /c and `second` on POST /d.
    std::string store;   // The file; absent: in the directory.

    std::string text(const std::string& directory) const;
};

// What the child is, besides the configuration.
struct Launch {
    bool unprivileged = false;    // As another user, when the test runs as root.
    std::size_t descriptors = 0;  // It cannot have more; zero: as many as the test.
};

class Proxy {
public:
    // Returns when the proxy listens; throws WireError with its stderr when it does not.
    Proxy(const Directory& directory, const Configuration& configuration, Launch launch = {});
    // Kills the child when it still runs.
    ~Proxy();
    Proxy(const Proxy&) = delete;
    Proxy& operator=(const Proxy&) = delete;

    std::uint16_t port() const { return port_; }
    std::uint16_t admin_port() const { return admin_port_; }
    std::uint16_t observability_port() const { return observability_port_; }
    int pid() const { return pid_; }

    void kill();       // SIGKILL, and waits for the end.
    void terminate();  // SIGTERM, returns at once.
    // The exit code; absent when a signal ended it or it goes on beyond the deadline.
    std::optional<int> wait(Deadline deadline = within(std::chrono::seconds(20)));
    bool is_running();

    std::string log() const;     // Lines of stdout so far.
    std::string errors() const;  // Stderr so far.
    // Peak resident memory in KiB since the last reset.
    std::size_t peak_memory() const;
    void reset_peak_memory() const;

private:
    void start(const std::string& file, Launch launch);
    void collect(int descriptor, std::string& into);
    bool wait_until_listening();

    int pid_ = -1;
    int process_ = -1;  // A descriptor of the process, readable when it ended.
    std::optional<int> exit_code_;
    std::uint16_t port_ = 0;
    std::uint16_t admin_port_ = 0;
    std::uint16_t observability_port_ = 0;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::string log_;
    std::string errors_;
    std::thread out_;
    std::thread err_;
    bool out_ended_ = false;
};

// The result of a start that is expected to fail.
struct FailedStart {
    std::optional<int> exit_code;
    std::string errors;
};
// Absent when the proxy started.
std::optional<FailedStart> start_and_fail(const Directory& directory,
                                          const Configuration& configuration, Launch launch = {});

}  // namespace onceward::wire
