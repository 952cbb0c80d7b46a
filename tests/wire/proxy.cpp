// Starting, watching and ending the proxy.
#include "wire/proxy.hpp"

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <signal.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace onceward::wire {

namespace {

constexpr unsigned nobody = 65534;

constexpr std::string_view usual_routes =
    "  - { name: guarded, match: { method: POST, path_prefix: /c }, tier: t, timeout: 20s,"
    " in_progress: { wait: 0s } }\n"
    "  - { name: second, match: { method: POST, path_prefix: /d }, tier: t, timeout: 20s,"
    " in_progress: { wait: 0s } }\n";

std::uint16_t port_in(const std::string& line, std::string_view member)
{
    const auto address = json_member(line, member);
    const auto colon = address.rfind(':');
    if (colon == std::string::npos) return 0;
    return static_cast<std::uint16_t>(std::strtoul(address.c_str() + colon + 1, nullptr, 10));
}

std::array<int, 2> make_pipe()
{
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw WireError("no pipe left");
    return ends;
}

// Between fork and exec: system calls only.
[[noreturn]] void become_proxy(const char* file, int out, int err, Launch launch)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // So that a file-size limit shows as a failed write, as a full disk does.
    ::signal(SIGXFSZ, SIG_IGN);
    ::dup2(out, 1);
    ::dup2(err, 2);
    if (launch.unprivileged && ::getuid() == 0 &&
        (::setgid(nobody) != 0 || ::setuid(nobody) != 0)) {
        ::_exit(126);
    }
    if (launch.descriptors > 0) {
        const rlimit limit{launch.descriptors, launch.descriptors};
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
    ::execl(ONCEWARD_BINARY, ONCEWARD_BINARY, "run", "-c", file, static_cast<char*>(nullptr));
    ::_exit(127);
}

}  // namespace

Directory::Directory()
{
    std::string name = (std::filesystem::temp_directory_path() / "onceward-wire-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw WireError("no temporary directory");
    path_ = name;
}

Directory::~Directory()
{
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
}

std::string Directory::file(std::string_view name) const
{
    return path_ + "/" + std::string(name);
}

std::string Configuration::text(const std::string& directory) const
{
    std::ostringstream yaml;
    yaml << "version: 1\nserver:\n  listen: 127.0.0.1:0\n  upstream: http://127.0.0.1:" << upstream
         << "\n  workers: 2\n"
         << server << "observability:\n  listen: 127.0.0.1:0\nadmin:\n  listen: 127.0.0.1:0\n"
         << "store:\n  sqlite: " << (store.empty() ? directory + "/records.db" : store)
         << "\n  ephemeral: true\nkeys: " << keys << "\ntiers:\n  t: " << tier << "\nroutes:\n"
         << (routes.empty() ? std::string(usual_routes) : routes);
    return yaml.str();
}

Proxy::Proxy(const Directory& directory, const Configuration& configuration, Launch launch)
{
    const auto file = directory.file("onceward.yaml");
    std::ofstream(file) << configuration.text(directory.path());
    start(file, launch);
    if (!wait_until_listening()) {
        kill();
        out_.join();
        err_.join();
        throw WireError("the proxy did not start:\n" + errors());
    }
}

Proxy::~Proxy()
{
    if (is_running()) kill();
    if (out_.joinable()) out_.join();
    if (err_.joinable()) err_.join();
    if (process_ >= 0) ::close(process_);
}

void Proxy::start(const std::string& file, Launch launch)
{
    const auto out = make_pipe();
    const auto err = make_pipe();
    pid_ = ::fork();
    if (pid_ == 0) become_proxy(file.c_str(), out[1], err[1], launch);
    ::close(out[1]);
    ::close(err[1]);
    process_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
    out_ = std::thread([this, from = out[0]] {
        collect(from, log_);
        const std::scoped_lock lock(mutex_);
        out_ended_ = true;
        changed_.notify_all();
    });
    err_ = std::thread([this, from = err[0]] { collect(from, errors_); });
}

void Proxy::collect(int descriptor, std::string& into)
{
    std::array<char, 8192> piece;
    ssize_t got;
    while ((got = ::read(descriptor, piece.data(), piece.size())) > 0) {
        const std::scoped_lock lock(mutex_);
        into.append(piece.data(), static_cast<std::size_t>(got));
        changed_.notify_all();
    }
    ::close(descriptor);
}

bool Proxy::wait_until_listening()
{
    std::unique_lock lock(mutex_);
    const auto line_there = [&] { return out_ended_ || contains(log_, "\n"); };
    if (!changed_.wait_for(lock, std::chrono::seconds(20), line_there)) return false;
    const auto line = log_.substr(0, log_.find('\n'));
    port_ = port_in(line, "proxy");
    admin_port_ = port_in(line, "admin");
    observability_port_ = port_in(line, "observability");
    return json_member(line, "event") == "listening" && port_ != 0;
}

void Proxy::kill()
{
    if (pid_ > 0 && !exit_code_) ::kill(pid_, SIGKILL);
    wait();
}

void Proxy::terminate()
{
    ::kill(pid_, SIGTERM);
}

std::optional<int> Proxy::wait(Deadline deadline)
{
    if (pid_ <= 0) return exit_code_;
    if (!readable(process_, deadline)) return std::nullopt;
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    if (WIFEXITED(status)) exit_code_ = WEXITSTATUS(status);
    return exit_code_;
}

bool Proxy::is_running()
{
    return pid_ > 0 && !readable(process_, within(std::chrono::milliseconds(0)));
}

std::string Proxy::log() const
{
    const std::scoped_lock lock(mutex_);
    return log_;
}

std::string Proxy::errors() const
{
    const std::scoped_lock lock(mutex_);
    return errors_;
}

std::size_t Proxy::peak_memory() const
{
    std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
    std::string word;
    std::size_t size = 0;
    while (file >> word && word != "VmHWM:") {
    }
    file >> size;
    return size;
}

void Proxy::reset_peak_memory() const
{
    std::ofstream("/proc/" + std::to_string(pid_) + "/clear_refs") << "5";
}

std::optional<FailedStart> start_and_fail(const Directory& directory,
                                          const Configuration& configuration, Launch launch)
{
    const auto file = directory.file("onceward.yaml");
    std::ofstream(file) << configuration.text(directory.path());
    const auto err = make_pipe();
    const int pid = ::fork();
    if (pid == 0) become_proxy(file.c_str(), err[1], err[1], launch);
    ::close(err[1]);
    FailedStart failed;
    std::array<char, 4096> piece;
    const Deadline deadline = within(patience);
    while (readable(err[0], deadline)) {
        const auto got = ::read(err[0], piece.data(), piece.size());
        if (got <= 0) break;
        failed.errors.append(piece.data(), static_cast<std::size_t>(got));
        if (contains(failed.errors, "\"listening\"")) break;
    }
    const bool started = contains(failed.errors, "\"listening\"");
    if (started) ::kill(pid, SIGKILL);
    ::close(err[0]);
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (WIFEXITED(status)) failed.exit_code = WEXITSTATUS(status);
    if (started) return std::nullopt;
    return failed;
}

}  // namespace onceward::wire
