// Starting, reading and killing a second process.
#include "child_process.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace onceward::test {

namespace {

constexpr int child_end = 3;  // The descriptor on which the child speaks.

}  // namespace

ChildProcess::ChildProcess(const std::string& test_case,
                           const std::map<std::string, std::string>& environment)
{
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], child_end);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);

    std::vector<std::string> words{"child", "--no-skip", "--test-case=" + test_case};
    std::vector<char*> arguments;
    for (auto& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::vector<std::string> settings;
    for (const auto& [name, value] : environment)
        settings.push_back(name + "=" + value);
    std::vector<char*> variables;
    for (auto& setting : settings)
        variables.push_back(setting.data());
    for (char** inherited = environ; *inherited != nullptr; ++inherited)
        variables.push_back(*inherited);
    variables.push_back(nullptr);

    const int spawned =
        posix_spawn(&id_, "/proc/self/exe", &actions, nullptr, arguments.data(), variables.data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    pipe_ = ends[0];
    REQUIRE(spawned == 0);
}

ChildProcess::~ChildProcess()
{
    if (id_ > 0) kill();
    close(pipe_);
}

std::optional<std::string> ChildProcess::line()
{
    for (;;) {
        const auto end = buffer_.find('\n');
        if (end != std::string::npos) {
            auto text = buffer_.substr(0, end);
            buffer_.erase(0, end + 1);
            return text;
        }
        char bytes[4096];
        const auto got = read(pipe_, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return std::nullopt;
        buffer_.append(bytes, static_cast<std::size_t>(got));
    }
}

void ChildProcess::kill()
{
    ::kill(id_, SIGKILL);
    wait();
}

void ChildProcess::wait()
{
    while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
}

std::string told_to_child(const char* name)
{
    const char* value = std::getenv(name);
    REQUIRE(value != nullptr);
    return value;
}

void say(const std::string& line)
{
    const auto text = line + '\n';
    // A reader that has gone is no news: the parent is done with this child.
    static_cast<void>(!write(child_end, text.data(), text.size()));
}

}  // namespace onceward::test
