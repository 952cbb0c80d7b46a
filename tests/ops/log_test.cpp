// The log: well-formed whatever is logged, and never in the way of what it logs about.
#include "ops/log.hpp"

#include "ops/pipe.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <thread>

using namespace onceward;
using nlohmann::json;

namespace {

LogOptions options_for(const Pipe& pipe, LogFormat format = LogFormat::json)
{
    LogOptions options;
    options.descriptor = pipe.writer();
    options.format = format;
    return options;
}

}  // namespace

TEST_CASE("one JSON object per event, fields in order, hostile text escaped")
{
    Pipe pipe;
    {
        Log log(options_for(pipe));
        log.event(LogLevel::warn, "outcome",
                  {{"path", "/a\"}\n{\"level\":\"fake"},
                   {"status", std::int64_t{502}},
                   {"t_total_ms", 1.5},
                   {"replayed", true},
                   {"bytes", std::string_view("\xff\x1b[2J", 5)}});
        log.event(LogLevel::info, "second", {});
    }
    pipe.close_writer();
    const auto lines = lines_of(pipe.read_all());
    REQUIRE(lines.size() == 2);
    const auto first = json::parse(lines[0]);
    CHECK(first["level"] == "warn");
    CHECK(first["event"] == "outcome");
    CHECK(first["path"] == "/a\"}\n{\"level\":\"fake");
    CHECK(first["status"] == 502);
    CHECK(first["t_total_ms"] == 1.5);
    CHECK(first["replayed"] == true);
    CHECK(first["bytes"] == "\xef\xbf\xbd\x1b[2J");
    CHECK(lines[0].find('\x1b') == std::string::npos);
    const auto time = first["ts"].get<std::string>();
    CHECK(time.size() == 24);
    CHECK(time.back() == 'Z');
    CHECK(json::parse(lines[1])["event"] == "second");
}

TEST_CASE("the text format is for people, and as safe")
{
    Pipe pipe;
    {
        Log log(options_for(pipe, LogFormat::text));
        log.event(LogLevel::info, "request", {{"path", "/v1/charges"}, {"agent", "two words\n"}});
    }
    pipe.close_writer();
    const auto lines = lines_of(pipe.read_all());
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].ends_with(" info  request path=/v1/charges agent=\"two words\\n\""));
}

TEST_CASE("less than the level is not written, and `off` writes nothing")
{
    Pipe pipe;
    {
        auto options = options_for(pipe);
        options.level = LogLevel::warn;
        Log log(options);
        CHECK_FALSE(log.enabled(LogLevel::info));
        log.event(LogLevel::info, "no", {});
        log.event(LogLevel::error, "yes", {});
        options.level = LogLevel::off;
        Log silent(options);
        silent.event(LogLevel::error, "no", {});
        silent.event(LogLevel::off, "no", {});
    }
    pipe.close_writer();
    const auto lines = lines_of(pipe.read_all());
    REQUIRE(lines.size() == 1);
    CHECK(json::parse(lines[0])["event"] == "yes");
    CHECK(parse_log_level("warning") == LogLevel::warn);
    CHECK_FALSE(parse_log_level("loud"));
}

TEST_CASE("announcements are JSON at every level and in every format")
{
    Pipe pipe;
    {
        auto options = options_for(pipe, LogFormat::text);
        options.level = LogLevel::off;
        Log log(options);
        log.announce("listening", {{"proxy", "127.0.0.1:8080"}});
    }
    pipe.close_writer();
    const auto lines = lines_of(pipe.read_all());
    REQUIRE(lines.size() == 1);
    CHECK(json::parse(lines[0])["proxy"] == "127.0.0.1:8080");
}

TEST_CASE("flush waits for every line of before")
{
    Pipe pipe;
    Log log(options_for(pipe));
    for (int i = 0; i < 100; ++i)
        log.event(LogLevel::info, "line", {{"i", std::int64_t{i}}});
    CHECK(log.flush(std::chrono::seconds{20}));
    CHECK(log.dropped() == 0);
    pipe.close_writer();
    CHECK(lines_of(pipe.read_all()).size() == 100);
}

TEST_CASE("a reader that does not read costs lines, which are counted, and never the caller")
{
    constexpr int lines = 20'000;  // More than the pipe and the queue hold.
    Pipe pipe;
    auto options = options_for(pipe);
    options.queue = 64;
    auto log = std::make_unique<Log>(options);
    const std::string filling(200, 'x');
    for (int i = 0; i < lines; ++i)
        log->event(LogLevel::info, "line", {{"filling", filling}});
    CHECK(log->dropped() > 0);

    std::string text;
    std::thread reader([&] { text = pipe.read_all(); });
    CHECK(log->flush(std::chrono::seconds{20}));
    const auto dropped = log->dropped();
    log.reset();
    pipe.close_writer();
    reader.join();
    CHECK(lines_of(text).size() + dropped == lines);
    for (const auto& line : lines_of(text))
        CHECK_NOTHROW((void)json::parse(line));
}

TEST_CASE("a reader that has gone costs lines, not the process")
{
    Pipe pipe;
    Log log(options_for(pipe));
    pipe.close_reader();
    for (int i = 0; i < 10; ++i)
        log.event(LogLevel::info, "line", {});
    CHECK(log.flush(std::chrono::seconds{20}));
    CHECK(log.dropped() == 10);
}

TEST_CASE("the end of the process does not wait for a reader for ever")
{
    Pipe pipe;
    auto options = options_for(pipe);
    options.queue = 4'096;
    {
        Log log(options);
        const std::string filling(200, 'x');
        for (int i = 0; i < 2'000; ++i)
            log.event(LogLevel::info, "line", {{"filling", filling}});
    }
    CHECK(true);  // Came here although nobody read.
}
