// Files and their directory entries, synchronised.
#include "store/durable_file.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace onceward {

namespace {

// Closes when destroyed.
class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor()
    {
        const int kept = errno;
        if (number_ >= 0) close(number_);
        errno = kept;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    bool is_open() const { return number_ >= 0; }
    int number() const { return number_; }

private:
    int number_;
};

bool write_all(int descriptor, std::string_view content)
{
    while (!content.empty()) {
        const auto written = write(descriptor, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

bool synchronise_directory(const std::string& path)
{
    const Descriptor directory(
        open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return directory.is_open() && fsync(directory.number()) == 0;
}

bool write_new(const std::string& path, std::string_view content)
{
    const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    return file.is_open() && fchmod(file.number(), 0600) == 0 &&
           write_all(file.number(), content) && fsync(file.number()) == 0;
}

}  // namespace

bool write_durably(const std::string& path, std::string_view content)
{
    const auto temporary = path + ".new";
    if (write_new(temporary, content) && rename(temporary.c_str(), path.c_str()) == 0) {
        return synchronise_directory(path);
    }
    const int kept = errno;
    unlink(temporary.c_str());
    errno = kept;
    return false;
}

bool create_durably(const std::string& path)
{
    // A file that exists is not opened: closing any descriptor of a database drops its process's
    // locks on it.
    const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.is_open()) return errno == EEXIST;
    return fsync(file.number()) == 0 && synchronise_directory(path);
}

std::string directory_of(const std::string& path)
{
    const auto parent = std::filesystem::path(path).parent_path().string();
    return parent.empty() ? "." : parent;
}

}  // namespace onceward
