// libpq, non-blocking, on Asio.
#include "store/pg_connection.hpp"

#include "store/pg_address.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <libpq-fe.h>
#include <poll.h>
#include <sys/socket.h>

namespace onceward {

namespace {

namespace asio = boost::asio;
constexpr auto token = asio::as_tuple(asio::use_awaitable);

// One line, without the library's line ends.
std::string one_line(const char* text)
{
    std::string line(text == nullptr ? "" : text);
    std::replace(line.begin(), line.end(), '\n', ' ');
    while (!line.empty() && line.back() == ' ')
        line.pop_back();
    return line;
}

std::string_view field(const PGresult* result, int code)
{
    const char* text = PQresultErrorField(result, code);
    return text == nullptr ? std::string_view() : std::string_view(text);
}

// What a connection gets unless its string says otherwise: a dead peer is noticed within a minute
// even between statements, and a standby is not taken for the primary.
constexpr std::pair<const char*, const char*> defaults[] = {
    {"application_name", "onceward"},
    {"client_encoding", "UTF8"},
    {"target_session_attrs", "read-write"},
    {"keepalives_idle", "15"},
    {"keepalives_interval", "5"},
    {"keepalives_count", "3"},
    {"tcp_user_timeout", "30000"},
    // Kerberos would ask its servers while the thread waits.
    {"gssencmode", "disable"},
};

}  // namespace

PgTarget PgTarget::parse(const std::string& dsn)
{
    PgTarget target;
    char* wrong = nullptr;
    auto* options = PQconninfoParse(dsn.c_str(), &wrong);
    if (options == nullptr) {
        target.error = one_line(wrong);
        PQfreemem(wrong);
        return target;
    }
    for (auto* option = options; option->keyword != nullptr; ++option) {
        if (option->val != nullptr && *option->val != '\0')
            target.parameters.emplace_back(option->keyword, option->val);
    }
    PQconninfoFree(options);
    for (const auto& [name, value] : defaults) {
        if (target.find(name) == nullptr) target.parameters.emplace_back(name, value);
    }
    return target;
}

void PgResult::Clear::operator()(pg_result* result) const
{
    PQclear(result);
}

std::size_t PgResult::rows() const
{
    return result_ ? static_cast<std::size_t>(PQntuples(result_.get())) : 0;
}

bool PgResult::is_null(std::size_t row, int column) const
{
    return PQgetisnull(result_.get(), static_cast<int>(row), column) != 0;
}

std::string_view PgResult::bytes(std::size_t row, int column) const
{
    const auto line = static_cast<int>(row);
    return {PQgetvalue(result_.get(), line, column),
            static_cast<std::size_t>(PQgetlength(result_.get(), line, column))};
}

PgConnection::PgConnection(asio::any_io_executor executor) : descriptor_(executor), timer_(executor)
{
}

PgConnection::~PgConnection()
{
    close();
}

void PgConnection::close()
{
    timer_.cancel();
    if (descriptor_.is_open()) descriptor_.release();
    if (connection_ == nullptr) return;
    // Whatever PQfinish still wants to say, a goodbye or the end of TLS, cannot block on a socket
    // that is shut.
    if (const int socket = PQsocket(connection_); socket >= 0) ::shutdown(socket, SHUT_RDWR);
    PQfinish(connection_);
    connection_ = nullptr;
}

int PgConnection::protocol_pid() const
{
    return PQbackendPID(connection_);
}

void PgConnection::take_notice(void* self, const pg_result* notice)
{
    auto& connection = *static_cast<PgConnection*>(self);
    const auto text = field(notice, PG_DIAG_MESSAGE_PRIMARY);
    const auto state = field(notice, PG_DIAG_SQLSTATE);
    if (says_not_durable(state, text)) connection.not_durable_ = true;
}

void PgConnection::arm(core::Millis limit)
{
    late_ = false;
    not_durable_ = false;
    timer_.expires_after(limit);
    timer_.async_wait(
        [this, alive = std::weak_ptr<int>(alive_)](const boost::system::error_code& error) {
            if (error || alive.expired()) return;
            late_ = true;
            boost::system::error_code ignored;
            if (waiting_) descriptor_.cancel(ignored);
        });
}

awaitable<bool> PgConnection::wait(Until until)
{
    if (late_) co_return false;
    const auto kind = until == Until::readable ? asio::posix::descriptor_base::wait_read
                                               : asio::posix::descriptor_base::wait_write;
    waiting_ = true;
    const auto waited = co_await descriptor_.async_wait(kind, token);
    waiting_ = false;
    co_return !std::get<0>(waited) && !late_;
}

PgError PgConnection::broken(bool sent)
{
    PgError error{late_ ? PgFault::late : PgFault::lost, sent, "", ""};
    error.text = late_ ? "no answer within the deadline" : one_line(PQerrorMessage(connection_));
    close();
    return error;
}

awaitable<std::optional<PgError>> PgConnection::open(PgTarget target, core::Millis limit)
{
    close();
    arm(limit);
    auto failed = co_await connect(std::move(target), limit);
    timer_.cancel();
    if (failed) close();
    co_return failed;
}

awaitable<std::optional<PgError>> PgConnection::connect(PgTarget target, core::Millis limit)
{
    auto resolved = co_await with_addresses(std::move(target), limit);
    if (auto* failed = std::get_if<PgError>(&resolved)) co_return std::move(*failed);
    if (late_) co_return PgError{PgFault::late, false, "looking up the host took too long", ""};

    std::vector<const char*> names;
    std::vector<const char*> values;
    for (const auto& [name, value] : std::get<PgTarget>(resolved).parameters) {
        names.push_back(name.c_str());
        values.push_back(value.c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    connection_ = PQconnectStartParams(names.data(), values.data(), 0);
    auto state = connection_ == nullptr || PQstatus(connection_) == CONNECTION_BAD
                     ? PGRES_POLLING_FAILED
                     : PGRES_POLLING_WRITING;
    while (state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING) {
        // libpq may have opened another socket under the same number: the registration is renewed
        // each time.
        descriptor_.assign(PQsocket(connection_));
        const auto ready =
            co_await wait(state == PGRES_POLLING_READING ? Until::readable : Until::writable);
        descriptor_.release();
        if (!ready) co_return PgError{PgFault::late, false, "connecting took too long", ""};
        state = PQconnectPoll(connection_);
    }
    if (state != PGRES_POLLING_OK) {
        const auto text =
            one_line(connection_ == nullptr ? "out of memory" : PQerrorMessage(connection_));
        co_return PgError{PgFault::cannot_connect, false, text, ""};
    }
    descriptor_.assign(PQsocket(connection_));
    PQsetnonblocking(connection_, 1);
    PQsetNoticeReceiver(connection_, take_notice, this);
    co_return std::nullopt;
}

bool PgConnection::usable()
{
    if (connection_ == nullptr) return false;
    pollfd look{PQsocket(connection_), POLLIN, 0};
    for (int tries = 0; tries < 4 && ::poll(&look, 1, 0) > 0; ++tries) {
        if (PQconsumeInput(connection_) == 0 || PQstatus(connection_) == CONNECTION_BAD) {
            close();
            return false;
        }
    }
    return true;
}

awaitable<bool> PgConnection::flush()
{
    using namespace asio::experimental::awaitable_operators;
    for (;;) {
        const int left = PQflush(connection_);
        if (left == 0) co_return true;
        if (left < 0 || late_) co_return false;
        // Whatever the server says meanwhile is read, or both sides might wait for each other for
        // ever.
        waiting_ = true;
        co_await (descriptor_.async_wait(asio::posix::descriptor_base::wait_write, token) ||
                  descriptor_.async_wait(asio::posix::descriptor_base::wait_read, token));
        waiting_ = false;
        if (late_ || PQconsumeInput(connection_) == 0) co_return false;
    }
}

// The next result, which is null at the end of one statement's results; late_ or a bad status: it
// broke.
awaitable<pg_result*> PgConnection::next()
{
    while (PQisBusy(connection_) != 0) {
        const auto ready = co_await wait(Until::readable);
        if (!ready || PQconsumeInput(connection_) == 0) co_return nullptr;
    }
    co_return PQgetResult(connection_);
}

PgAnswer PgConnection::judge(pg_result* raw)
{
    PgAnswer answer;
    const auto status = PQresultStatus(raw);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY) {
        answer.result = PgResult(raw);
        return answer;
    }
    PgError error;
    error.state = field(raw, PG_DIAG_SQLSTATE);
    error.text = one_line(PQresultErrorMessage(raw));
    error.fault = error.state.empty() ? PgFault::lost : fault_of(error.state);
    if (status == PGRES_PIPELINE_ABORTED) error.fault = PgFault::other;
    const auto severity = field(raw, PG_DIAG_SEVERITY_NONLOCALIZED);
    error.may_have_happened = severity != "ERROR" && status != PGRES_PIPELINE_ABORTED;
    answer.error = std::move(error);
    PQclear(raw);
    return answer;
}

void PgConnection::mark_durability(PgAnswer& answer) const
{
    if (answer.error || !not_durable_) return;
    answer.error = PgError{PgFault::not_durable, true, "committed without its standby", "01000"};
}

awaitable<PgAnswer> PgConnection::collect()
{
    PgAnswer answer;
    for (;;) {
        auto* raw = co_await next();
        const bool bad = late_ || PQstatus(connection_) == CONNECTION_BAD;
        if (raw == nullptr && bad && !answer.error) answer.error = broken(true);
        if (raw == nullptr) break;
        auto judged = judge(raw);
        if (!answer.error) answer = std::move(judged);
    }
    timer_.cancel();
    if (connection_ != nullptr && PQstatus(connection_) == CONNECTION_BAD) close();
    mark_durability(answer);
    co_return answer;
}

awaitable<PgAnswer> PgConnection::command(std::string sql, core::Millis limit)
{
    arm(limit);
    const bool sent = connection_ != nullptr && PQsendQuery(connection_, sql.c_str()) == 1;
    auto answer = co_await finish(sent);
    co_return answer;
}

awaitable<PgAnswer> PgConnection::finish(bool sent)
{
    PgAnswer answer;
    bool flushed = false;
    if (sent) flushed = co_await flush();
    if (flushed) {
        answer = co_await collect();
    } else {
        answer.error = broken(sent);
    }
    co_return answer;
}

bool PgConnection::send_prepared(const PgStatement& statement, const PgParameters& parameters)
{
    std::vector<const char*> values;
    std::vector<int> lengths;
    for (const auto& parameter : parameters) {
        values.push_back(parameter ? parameter->data() : nullptr);
        lengths.push_back(parameter ? static_cast<int>(parameter->size()) : 0);
    }
    const std::vector<int> formats(parameters.size(), 1);
    return PQsendQueryPrepared(connection_, statement.name, static_cast<int>(values.size()),
                               values.data(), lengths.data(), formats.data(), 1) == 1;
}

bool PgConnection::send_step(const PgStep& step)
{
    if (step.execute != nullptr) return send_prepared(*step.execute, step.parameters);
    std::vector<Oid> types;
    for (const auto type : step.prepare->types)
        types.push_back(static_cast<Oid>(type));
    return PQsendPrepare(connection_, step.prepare->name, step.prepare->sql,
                         static_cast<int>(types.size()), types.data()) == 1;
}

awaitable<PgAnswer> PgConnection::execute(const PgStatement* statement, PgParameters parameters,
                                          core::Millis limit)
{
    arm(limit);
    const bool sent = connection_ != nullptr && send_prepared(*statement, parameters);
    auto answer = co_await finish(sent);
    co_return answer;
}

awaitable<std::vector<PgAnswer>> PgConnection::pipeline(std::vector<PgStep> steps,
                                                        core::Millis limit)
{
    arm(limit);
    bool sent = connection_ != nullptr && PQenterPipelineMode(connection_) == 1;
    for (const auto& step : steps)
        sent = sent && send_step(step);
    sent = sent && PQpipelineSync(connection_) == 1;
    if (sent) sent = co_await flush();
    if (sent) {
        auto answers = co_await collect_pipeline(steps.size());
        co_return answers;
    }
    std::vector<PgAnswer> answers(steps.size());
    const auto error = broken(true);
    for (auto& answer : answers)
        answer.error = error;
    co_return answers;
}

awaitable<std::vector<PgAnswer>> PgConnection::collect_pipeline(std::size_t steps)
{
    std::vector<PgAnswer> answers;
    for (;;) {
        auto* raw = co_await next();
        if (raw == nullptr) {
            if (!late_ && PQstatus(connection_) != CONNECTION_BAD)
                continue;  // The end of one step's results.
            break;
        }
        if (PQresultStatus(raw) == PGRES_PIPELINE_SYNC) {
            PQclear(raw);
            break;
        }
        answers.push_back(judge(raw));
    }
    timer_.cancel();
    if (answers.size() < steps || PQexitPipelineMode(connection_) == 0) {
        const auto error = broken(true);
        answers.resize(steps);
        for (auto& answer : answers) {
            if (!answer.error) answer.error = error;
        }
    }
    for (auto& answer : answers)
        mark_durability(answer);
    co_return answers;
}

}  // namespace onceward
