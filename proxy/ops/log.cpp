// The log on spdlog's bounded queue, and the sink that writes lines without ever getting stuck.
#include "ops/log.hpp"

#include "ops/json_text.hpp"

#include <spdlog/async.h>
#include <spdlog/sinks/sink.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <poll.h>
#include <unistd.h>

namespace onceward {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t batch_bytes = 32 << 10;  // Written at once while more lines wait.
constexpr std::size_t piece_bytes =
    4'096;  // A pipe that polls writable takes this much without blocking.
constexpr milliseconds exit_patience{
    2'000};  // For a reader that does not read while we want to end.

// Writes in batches: as long as lines wait in the queue, and at once when none does. Runs on
// spdlog's thread only, except for the counters.
class DescriptorSink final : public spdlog::sinks::sink {
public:
    explicit DescriptorSink(int descriptor) : descriptor_(descriptor) {}

    void watch(spdlog::details::thread_pool* pool) { pool_ = pool; }
    void close() { closing_.store(true, std::memory_order_relaxed); }
    std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

    void log(const spdlog::details::log_msg& message) override
    {
        batch_.append(message.payload.data(), message.payload.size()).push_back('\n');
        ++lines_;
        if (batch_.size() >= batch_bytes || pool_->queue_size() == 0) write_batch();
    }
    void flush() override { write_batch(); }
    void set_pattern(const std::string&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

    // True when `lines` lines in all have been written or lost here before `limit` passed.
    // `overrun` tells how many never got here.
    template <class Overrun>
    bool wait_for(std::uint64_t lines, milliseconds limit, Overrun overrun)
    {
        const auto give_up = std::chrono::steady_clock::now() + limit;
        std::unique_lock lock(mutex_);
        while (done_ + overrun() < lines) {
            if (std::chrono::steady_clock::now() >= give_up) return false;
            changed_.wait_for(lock, milliseconds{20});
        }
        return true;
    }

private:
    void write_batch()
    {
        if (lines_ == 0) return;
        if (!write_all(batch_)) lost_.fetch_add(lines_, std::memory_order_relaxed);
        batch_.clear();
        {
            const std::lock_guard lock(mutex_);
            done_ += lines_;
        }
        lines_ = 0;
        changed_.notify_all();
    }

    bool write_all(std::string_view bytes)
    {
        while (!bytes.empty()) {
            if (!wait_writable()) return false;
            const auto size =
                ::write(descriptor_, bytes.data(), std::min(bytes.size(), piece_bytes));
            if (size < 0 && errno != EINTR && errno != EAGAIN) return false;
            if (size > 0) bytes.remove_prefix(static_cast<std::size_t>(size));
        }
        return true;
    }

    // A full pipe is waited for, but not while the process wants to end.
    bool wait_writable()
    {
        constexpr int slice = 50;
        milliseconds patience = exit_patience;
        for (;;) {
            pollfd entry{descriptor_, POLLOUT, 0};
            const int ready = ::poll(&entry, 1, stuck_ ? 0 : slice);
            if (ready > 0) return (entry.revents & POLLOUT) != 0 && (entry.revents & POLLERR) == 0;
            if (ready < 0 && errno != EINTR) return false;
            if (closing_.load(std::memory_order_relaxed)) patience -= milliseconds{slice};
            if (patience <= milliseconds{0}) stuck_ = true;
            if (stuck_) return false;
        }
    }

    int descriptor_;
    spdlog::details::thread_pool* pool_ = nullptr;
    std::string batch_;
    std::uint64_t lines_ = 0;  // In batch_.
    bool stuck_ = false;  // The reader did not read while we wanted to end: waited for no more.
    std::atomic<bool> closing_ = false;
    std::atomic<std::uint64_t> lost_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t done_ = 0;  // Guarded by mutex_.
};

// For people: a word stays a word, anything else is quoted.
bool is_plain_word(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return c > 0x20 && c < 0x7F && c != '"' && c != '=' && c != '\\';
    });
}

void append_value(std::string& line, const LogValue& value, LogFormat format)
{
    if (const auto* text = std::get_if<std::string_view>(&value)) {
        if (format == LogFormat::text && is_plain_word(*text)) {
            line.append(*text);
        } else {
            append_json_string(line, *text);
        }
    } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
        line.append(std::to_string(*whole));
    } else if (const auto* number = std::get_if<double>(&value)) {
        append_json_number(line, *number);
    } else {
        line.append(std::get<bool>(value) ? "true" : "false");
    }
}

std::string json_line(LogLevel level, std::string_view event, std::span<const LogField> fields)
{
    std::string line;
    line.reserve(512);
    line.append("{\"ts\":\"");
    append_time(line, std::chrono::system_clock::now());
    line.append("\",\"level\":\"").append(to_string(level)).append("\",\"event\":");
    append_json_string(line, event);
    for (const auto& field : fields) {
        line.append(",\"").append(field.name).append("\":");
        append_value(line, field.value, LogFormat::json);
    }
    line.push_back('}');
    return line;
}

std::string text_line(LogLevel level, std::string_view event, std::span<const LogField> fields)
{
    std::string line;
    line.reserve(512);
    append_time(line, std::chrono::system_clock::now());
    line.push_back(' ');
    line.append(to_string(level)).append(6 - to_string(level).size(), ' ').append(event);
    for (const auto& field : fields) {
        line.append(" ").append(field.name).append("=");
        append_value(line, field.value, LogFormat::text);
    }
    return line;
}

}  // namespace

struct Log::Backend {
    std::shared_ptr<DescriptorSink> sink;
    std::shared_ptr<spdlog::details::thread_pool> pool;
    std::shared_ptr<spdlog::async_logger> logger;
    std::atomic<std::uint64_t> submitted = 0;
};

std::optional<LogLevel> parse_log_level(std::string_view word)
{
    if (word == "debug") return LogLevel::debug;
    if (word == "info") return LogLevel::info;
    if (word == "warn" || word == "warning") return LogLevel::warn;
    if (word == "error") return LogLevel::error;
    if (word == "off") return LogLevel::off;
    return std::nullopt;
}

std::string_view to_string(LogLevel level)
{
    switch (level) {
        case LogLevel::debug: return "debug";
        case LogLevel::info: return "info";
        case LogLevel::warn: return "warn";
        case LogLevel::error: return "error";
        case LogLevel::off: break;
    }
    return "off";
}

Log::Log(const LogOptions& options)
    : level_(options.level), format_(options.format), backend_(std::make_unique<Backend>())
{
    std::signal(SIGPIPE, SIG_IGN);
    auto& [sink, pool, logger, submitted] = *backend_;
    sink = std::make_shared<DescriptorSink>(options.descriptor);
    pool =
        std::make_shared<spdlog::details::thread_pool>(std::max<std::size_t>(options.queue, 1), 1);
    sink->watch(pool.get());
    logger = std::make_shared<spdlog::async_logger>("onceward", sink, pool,
                                                    spdlog::async_overflow_policy::overrun_oldest);
    logger->set_level(spdlog::level::trace);
    logger->flush_on(spdlog::level::off);
}

Log::~Log()
{
    backend_->sink->close();
    flush(exit_patience);
    backend_->logger.reset();
    backend_->pool.reset();
}

void Log::event(LogLevel level, std::string_view event, std::span<const LogField> fields)
{
    if (!enabled(level) || level == LogLevel::off) return;
    write(format_ == LogFormat::json ? json_line(level, event, fields)
                                     : text_line(level, event, fields));
}

void Log::announce(std::string_view event, std::initializer_list<LogField> fields)
{
    write(
        json_line(LogLevel::info, event, std::span<const LogField>(fields.begin(), fields.size())));
}

void Log::write(std::string_view line)
{
    backend_->submitted.fetch_add(1, std::memory_order_relaxed);
    backend_->logger->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
}

void Log::event(LogLevel level, std::string_view event, std::initializer_list<LogField> fields)
{
    this->event(level, event, std::span<const LogField>(fields.begin(), fields.size()));
}

bool Log::flush(milliseconds limit)
{
    auto& pool = *backend_->pool;
    const auto overrun = [&pool] { return pool.overrun_counter(); };
    return backend_->sink->wait_for(backend_->submitted.load(), limit, overrun);
}

std::uint64_t Log::dropped() const
{
    return backend_->sink->lost() + backend_->pool->overrun_counter();
}

}  // namespace onceward
