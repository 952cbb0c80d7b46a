// The log: one line per event on standard output, written by a thread of its own. The only place
// with spdlog.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace onceward {

enum class LogLevel : std::uint8_t { debug, info, warn, error, off };

// debug, info, warn (warning), error, off; absent for any other word.
std::optional<LogLevel> parse_log_level(std::string_view word);
std::string_view to_string(LogLevel level);

enum class LogFormat : std::uint8_t { json, text };

struct LogOptions {
    LogFormat format = LogFormat::json;
    LogLevel level = LogLevel::info;  // Less than this is not written.
    std::size_t queue = 8'192;  // Lines that wait for the writer; the oldest is dropped when full.
    int descriptor = 1;         // Where lines go; stays open.
};

using LogValue = std::variant<std::string_view, std::int64_t, double, bool>;

// `name` is ours; a string value may be anybody's: it is escaped.
struct LogField {
    std::string_view name;
    LogValue value;
};

// Any number of threads may call every method. Writing never blocks its caller and never fails: a
// reader that is slow or gone costs lines, which are counted. Ignores SIGPIPE for the whole
// process.
class Log {
public:
    explicit Log(const LogOptions& options);
    // Writes what is queued, for at most two seconds.
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    bool enabled(LogLevel level) const { return level >= level_ && level_ != LogLevel::off; }

    // {"ts":...,"level":...,"event":EVENT, fields in the order given}
    void event(LogLevel level, std::string_view event, std::span<const LogField> fields);
    void event(LogLevel level, std::string_view event, std::initializer_list<LogField> fields);

    // For programs that started this one: always written, always as JSON, whatever level and format
    // are.
    void announce(std::string_view event, std::initializer_list<LogField> fields);

    // Waits until every line of before is written or dropped; false when `limit` passed first.
    bool flush(std::chrono::milliseconds limit);

    // Lines lost so far: queue overruns and lines that could not be written.
    std::uint64_t dropped() const;

private:
    struct Backend;
    void write(std::string_view line);

    LogLevel level_;
    LogFormat format_;
    std::unique_ptr<Backend> backend_;
};

}  // namespace onceward
