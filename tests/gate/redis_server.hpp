// A real redis-server of a test's own, and a blocking client for looking into it.
#pragma once

#include "gate/resp_codec.hpp"

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace onceward::test {

// Runs a program to its end and returns its exit code.
int run_program(const std::vector<std::string>& words);

// In a directory of its own; listens on the socket file there and, unless `port` is 0, on
// 127.0.0.1. Fails the test when there is no redis-server.
class RedisServer {
public:
    // `arguments` go to the command line: {"--requirepass", "x"}. Ready when it returns.
    explicit RedisServer(std::vector<std::string> arguments = {});
    ~RedisServer();
    RedisServer(const RedisServer&) = delete;
    RedisServer& operator=(const RedisServer&) = delete;

    std::string url() const { return "unix://" + socket_path(); }
    std::string socket_path() const { return file("redis.sock"); }
    std::string file(const std::string& name) const { return (directory_ / name).string(); }

    void freeze();  // SIGSTOP, effective when it returns.
    void thaw();    // SIGCONT.
    void kill();    // SIGKILL, and waits.
    void start();   // Again, after kill; ready when it returns.

    // One command on a connection of its own.
    RespReply command(std::initializer_list<std::string_view> words) const;

private:
    std::filesystem::path directory_;
    std::vector<std::string> arguments_;
    pid_t id_ = -1;
    int output_ = -1;
};

// A Sentinel with this configuration file, which names a `unixsocket`. Ready when it is
// constructed.
class SentinelProcess {
public:
    explicit SentinelProcess(const std::string& configuration);
    ~SentinelProcess();
    SentinelProcess(const SentinelProcess&) = delete;
    SentinelProcess& operator=(const SentinelProcess&) = delete;

private:
    pid_t id_ = -1;
    int output_ = -1;
};

// A TCP port of 127.0.0.1 that was free a moment ago.
std::string free_port();

}  // namespace onceward::test
