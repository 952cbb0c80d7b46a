// This very test program, run again as another process with one test case that plays a part.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <sys/types.h>

namespace onceward::test {

class ChildProcess {
public:
    // Runs the test case of this name (one that is skipped otherwise) with these environment
    // variables.
    ChildProcess(const std::string& test_case,
                 const std::map<std::string, std::string>& environment);
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    // What it says, line by line; absent once it has ended and everything was read.
    std::optional<std::string> line();

    // SIGKILL.
    void kill();

private:
    void wait();

    pid_t id_ = -1;
    int pipe_ = -1;
    std::string buffer_;
};

// For the child: what it was told, and its way to say something. A line is one write, so it is
// never torn.
std::string told_to_child(const char* name);
void say(const std::string& line);

}  // namespace onceward::test
