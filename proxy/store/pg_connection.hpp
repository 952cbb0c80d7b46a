// One connection to PostgreSQL on an executor, without ever blocking its thread; the only file pair
// that knows libpq.
#pragma once

#include "core/record.hpp"
#include "ports/result.hpp"
#include "store/pg_error.hpp"
#include "store/pg_values.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct pg_conn;
struct pg_result;

namespace onceward {

// Connection parameters by libpq's names.
using PgParameterList = std::vector<std::pair<std::string, std::string>>;

// A connection string's parts (both forms libpq knows), or what is wrong with it. Empty values are
// left out.
struct PgTarget {
    PgParameterList parameters;
    std::string error;

    static PgTarget parse(const std::string& dsn);
    const std::string* find(std::string_view name) const;
    // Where it leads, without secrets: for messages.
    std::string name() const;
};

// Rows of one answer, in binary format. Views live as long as the result.
class PgResult {
public:
    PgResult() = default;
    explicit PgResult(pg_result* result) : result_(result) {}

    std::size_t rows() const;
    bool is_null(std::size_t row, int column) const;
    std::string_view bytes(std::size_t row, int column) const;
    std::int64_t integer(std::size_t row, int column) const
    {
        return read_integer(bytes(row, column));
    }

private:
    struct Clear {
        void operator()(pg_result* result) const;
    };
    std::unique_ptr<pg_result, Clear> result_;
};

struct PgAnswer {
    PgResult result;
    std::optional<PgError> error;
};

// A statement that is prepared once for each connection. `name` and `sql` are constants of the
// program.
struct PgStatement {
    const char* name = nullptr;
    const char* sql = nullptr;
    std::vector<PgType> types;
};

// One of a pipeline: prepares `sql` under `prepare`, or executes the prepared `execute`.
struct PgStep {
    const PgStatement* prepare = nullptr;
    const PgStatement* execute = nullptr;
    PgParameters parameters;
};

// Used by one coroutine at a time, on its executor. Every error comes back as a value. A deadline
// does not cancel anything: the connection is given up, and what the server does with the statement
// stays open (decision 29); PQcancel would turn a commit's wait for its standby into a false
// success (D6).
class PgConnection {
public:
    explicit PgConnection(boost::asio::any_io_executor executor);
    // Closes without waiting for anybody.
    ~PgConnection();
    PgConnection(const PgConnection&) = delete;
    PgConnection& operator=(const PgConnection&) = delete;

    // Names are resolved by the executor's resolver, never inside libpq.
    awaitable<std::optional<PgError>> open(PgTarget target, core::Millis limit);

    // Commands of the simple protocol, without parameters, in one implicit transaction; answers in
    // text format. The last one's answer, or the first error.
    awaitable<PgAnswer> command(std::string sql, core::Millis limit);

    awaitable<PgAnswer> execute(const PgStatement* statement, PgParameters parameters,
                                core::Millis limit);

    // All of it with one Sync, and so in one transaction: one answer for each step. After the first
    // error the rest has not happened.
    awaitable<std::vector<PgAnswer>> pipeline(std::vector<PgStep> steps, core::Millis limit);

    // False when the server has closed it meanwhile, as far as is known here without waiting. What
    // is asked before a statement is sent keeps a restart of the server from making that statement
    // ambiguous.
    bool usable();

    // Closes now, without a word to the server.
    void close();

    bool is_open() const { return connection_ != nullptr; }
    // As the wire protocol said; a connection pooler invents its own.
    int protocol_pid() const;

private:
    enum class Until { readable, writable };

    static void take_notice(void* self, const pg_result* notice);
    awaitable<std::optional<PgError>> connect(PgTarget target, core::Millis limit);
    awaitable<bool> wait(Until until);
    awaitable<bool> flush();
    awaitable<pg_result*> next();
    awaitable<PgAnswer> finish(bool sent);
    awaitable<PgAnswer> collect();
    void mark_durability(PgAnswer& answer) const;
    awaitable<std::vector<PgAnswer>> collect_pipeline(std::size_t steps);
    bool send_step(const PgStep& step);
    bool send_prepared(const PgStatement& statement, const PgParameters& parameters);
    void arm(core::Millis limit);
    PgError broken(bool sent);
    PgAnswer judge(pg_result* result);

    boost::asio::posix::stream_descriptor descriptor_;
    boost::asio::steady_timer timer_;
    pg_conn* connection_ = nullptr;
    bool late_ = false;
    bool waiting_ = false;
    bool not_durable_ = false;  // A commit of the running statement did not wait for its standby.
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace onceward
