// A disk that breaks when a test wants it to: SQLite's own layer over files, with faults.
#pragma once

#include <cstdint>

namespace onceward::test {

enum class DiskFault : std::uint8_t {
    none,
    full,           // No write finds space.
    write_refused,  // Every write fails: a file system that became read-only.
    sync_fails,     // Bytes are taken, but the disk never confirms them.
};

enum class Breaks : std::uint8_t { everything, database_only };

// While it lives, databases that are opened lie on it. One at a time.
class FaultyDisk {
public:
    FaultyDisk();
    ~FaultyDisk();
    FaultyDisk(const FaultyDisk&) = delete;
    FaultyDisk& operator=(const FaultyDisk&) = delete;

    // Any thread; takes effect with the next access.
    void set(DiskFault fault, Breaks what = Breaks::everything);
};

}  // namespace onceward::test
