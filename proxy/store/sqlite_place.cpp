// Directory, file system and environment of the embedded store's file.
#include "store/sqlite_place.hpp"

#include "store/durable_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace onceward {

namespace {

constexpr long ramfs_magic = 0x858458f6;

OpenError in_a_pod()
{
    return {"this is a Kubernetes pod, and an embedded store serves one process only",
            "with more than one replica the same request would run once in each; write "
            "`single_node: true` "
            "under `store` if there is exactly one, with a persistent volume",
            ""};
}

OpenError forgetful(const std::string& directory, const std::string& why)
{
    return {"`" + directory + "` is on " + why,
            "give `store.sqlite` a path on a disk, or write `ephemeral: true` under `store` if "
            "records may be "
            "lost",
            ""};
}

}  // namespace

std::optional<std::string> forgetful_file_system(long type)
{
    switch (type) {
        case TMPFS_MAGIC:
        case ramfs_magic: return "a file system in memory: its records die with the machine";
        case OVERLAYFS_SUPER_MAGIC:
            return "a container's own layer (overlayfs): its records die with the container";
        default: return std::nullopt;
    }
}

std::optional<OpenError> prepare_place(const SqlitePlace& place)
{
    if (place.path.empty()) return OpenError{"`store.sqlite` is empty", "give it a path", ""};
    if (std::getenv("KUBERNETES_SERVICE_HOST") != nullptr && !place.single_node) return in_a_pod();

    const auto directory = directory_of(place.path);
    struct statfs system{};
    if (statfs(directory.c_str(), &system) != 0) {
        return OpenError{"the directory `" + directory +
                             "` of `store.sqlite` cannot be used: " + std::strerror(errno),
                         "create it, owned by the user that runs onceward", ""};
    }
    const auto why = forgetful_file_system(static_cast<long>(system.f_type));
    if (why && !place.ephemeral) return forgetful(directory, *why);

    struct stat found{};
    const bool exists = stat(place.path.c_str(), &found) == 0;
    if (exists && !S_ISREG(found.st_mode)) {
        return OpenError{"`" + place.path + "` is not a file",
                         "give `store.sqlite` the path of one", ""};
    }
    if (!exists && !place.create) {
        return OpenError{"there is no store at `" + place.path + "`",
                         "it is made by the first `onceward run`", ""};
    }
    if (!exists && !create_durably(place.path)) {
        return OpenError{"cannot create `" + place.path + "`: " + std::strerror(errno),
                         "let the user that runs onceward own the directory", ""};
    }
    return std::nullopt;
}

}  // namespace onceward
