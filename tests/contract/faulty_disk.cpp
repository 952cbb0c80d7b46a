// A SQLite file layer that passes everything on, or refuses it.
#include "faulty_disk.hpp"

#include <sqlite3.h>

#include <atomic>
#include <cstring>

namespace onceward::test {

namespace {

std::atomic<DiskFault> fault_now{DiskFault::none};
std::atomic<Breaks> broken{Breaks::everything};

// SQLite gives one block of memory: this, and behind it the real file.
struct File {
    sqlite3_file base;
    bool is_log;
};

sqlite3_file* real(sqlite3_file* file)
{
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<File*>(file) + 1);
}

DiskFault fault_of(sqlite3_file* file)
{
    const bool spared = broken == Breaks::database_only && reinterpret_cast<File*>(file)->is_log;
    return spared ? DiskFault::none : fault_now.load();
}

int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at)
{
    switch (fault_of(file)) {
        case DiskFault::full: return SQLITE_FULL;
        case DiskFault::write_refused: return SQLITE_IOERR_WRITE;
        case DiskFault::none:
        case DiskFault::sync_fails: break;
    }
    return real(file)->pMethods->xWrite(real(file), bytes, size, at);
}

int synchronise(sqlite3_file* file, int flags)
{
    if (fault_of(file) == DiskFault::sync_fails) return SQLITE_IOERR_FSYNC;
    return real(file)->pMethods->xSync(real(file), flags);
}

int close(sqlite3_file* file)
{
    return real(file)->pMethods->xClose(real(file));
}
int read(sqlite3_file* file, void* into, int size, sqlite3_int64 at)
{
    return real(file)->pMethods->xRead(real(file), into, size, at);
}
int truncate(sqlite3_file* file, sqlite3_int64 size)
{
    return real(file)->pMethods->xTruncate(real(file), size);
}
int file_size(sqlite3_file* file, sqlite3_int64* size)
{
    return real(file)->pMethods->xFileSize(real(file), size);
}
int lock(sqlite3_file* file, int level)
{
    return real(file)->pMethods->xLock(real(file), level);
}
int unlock(sqlite3_file* file, int level)
{
    return real(file)->pMethods->xUnlock(real(file), level);
}
int check_lock(sqlite3_file* file, int* held)
{
    return real(file)->pMethods->xCheckReservedLock(real(file), held);
}
int control(sqlite3_file* file, int operation, void* argument)
{
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
int sector_size(sqlite3_file* file)
{
    return real(file)->pMethods->xSectorSize(real(file));
}
int characteristics(sqlite3_file* file)
{
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

// Version 1: no shared memory. The store must not need any.
const sqlite3_io_methods methods = {
    1,       close,   read,       write,   truncate,    synchronise,     file_size,
    lock,    unlock,  check_lock, control, sector_size, characteristics, nullptr,
    nullptr, nullptr, nullptr,    nullptr, nullptr};

sqlite3_vfs* system_layer = nullptr;
sqlite3_vfs faulty_layer;

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* opened)
{
    auto* ours = reinterpret_cast<File*>(file);
    ours->is_log = (flags & SQLITE_OPEN_WAL) != 0;
    ours->base.pMethods = nullptr;
    const int code = system_layer->xOpen(system_layer, name, real(file), flags, opened);
    if (real(file)->pMethods != nullptr) ours->base.pMethods = &methods;
    return code;
}

}  // namespace

FaultyDisk::FaultyDisk()
{
    sqlite3_initialize();
    system_layer = sqlite3_vfs_find(nullptr);
    std::memcpy(&faulty_layer, system_layer, sizeof faulty_layer);
    faulty_layer.zName = "faulty";
    faulty_layer.szOsFile = static_cast<int>(sizeof(File)) + system_layer->szOsFile;
    faulty_layer.xOpen = open;
    set(DiskFault::none);
    sqlite3_vfs_register(&faulty_layer, 1);
}

FaultyDisk::~FaultyDisk()
{
    sqlite3_vfs_unregister(&faulty_layer);
    sqlite3_vfs_register(system_layer, 1);
}

void FaultyDisk::set(DiskFault fault, Breaks what)
{
    broken = what;
    fault_now = fault;
}

}  // namespace onceward::test
