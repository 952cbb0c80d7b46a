// Starting and ending a real Redis.
#include "gate/redis_server.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace onceward::test {

namespace {

// Starts a program found on the PATH; its output goes to `output`, or nowhere when that is -1.
pid_t spawn(const std::vector<std::string>& words, int output)
{
    std::vector<char*> arguments;
    for (const auto& word : words)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int stream : {1, 2}) {
        if (output >= 0) {
            posix_spawn_file_actions_adddup2(&actions, output, stream);
        } else {
            posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
        }
    }
    pid_t id = -1;
    const int failed =
        posix_spawnp(&id, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    REQUIRE_MESSAGE(failed == 0, words[0] << " cannot be started: is it installed?");
    return id;
}

int wait_for(pid_t id)
{
    int status = 0;
    while (waitpid(id, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Until the server says this; false when it ends without.
bool wait_until_said(int output, std::string_view awaited)
{
    std::string said;
    char bytes[4'096];
    for (;;) {
        const auto got = read(output, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        said.append(bytes, static_cast<std::size_t>(got));
        if (said.find(awaited) != std::string::npos) return true;
    }
    MESSAGE(said);
    return false;
}

}  // namespace

int run_program(const std::vector<std::string>& words)
{
    return wait_for(spawn(words, -1));
}

RedisServer::RedisServer(std::vector<std::string> arguments) : arguments_(std::move(arguments))
{
    std::string pattern =
        (std::filesystem::temp_directory_path() / "onceward-redis-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
    start();
}

RedisServer::~RedisServer()
{
    kill();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

void RedisServer::start()
{
    std::vector<std::string> words{"redis-server", "--unixsocket", socket_path(), "--save",  "",
                                   "--daemonize",  "no",           "--dir",       directory_};
    words.insert(words.end(), {"--port", "0"});
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    id_ = spawn(words, ends[1]);
    close(ends[1]);
    output_ = ends[0];
    // The socket file is the last of the listeners to be announced.
    REQUIRE(wait_until_said(output_, "ready to accept connections at "));
}

void RedisServer::freeze()
{
    REQUIRE(::kill(id_, SIGSTOP) == 0);
    int status = 0;
    REQUIRE(waitpid(id_, &status, WUNTRACED) == id_);
}

void RedisServer::thaw()
{
    REQUIRE(::kill(id_, SIGCONT) == 0);
}

void RedisServer::kill()
{
    if (id_ < 0) return;
    ::kill(id_, SIGKILL);
    wait_for(id_);
    close(output_);
    id_ = -1;
}

RespReply RedisServer::command(std::initializer_list<std::string_view> words) const
{
    const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_path().copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    const auto bytes = encode_command({words.begin(), words.size()});
    REQUIRE(write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    RespReader reader({64 << 20, 1'024});
    for (;;) {
        auto reply = reader.next();
        if (reply) {
            close(descriptor);
            return *reply;
        }
        char buffer[16'384];
        const auto got = read(descriptor, buffer, sizeof buffer);
        REQUIRE(got > 0);
        reader.feed({buffer, static_cast<std::size_t>(got)});
    }
}

SentinelProcess::SentinelProcess(const std::string& configuration)
{
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    id_ = spawn({"redis-server", configuration, "--sentinel"}, ends[1]);
    close(ends[1]);
    output_ = ends[0];
    REQUIRE(wait_until_said(output_, "+monitor master"));
}

SentinelProcess::~SentinelProcess()
{
    ::kill(id_, SIGKILL);
    wait_for(id_);
    close(output_);
}

std::string free_port()
{
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) == 0);
    REQUIRE(getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    close(descriptor);
    return std::to_string(ntohs(address.sin_port));
}

}  // namespace onceward::test
