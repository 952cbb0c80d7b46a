// RESP2 on hiredis' reader and formatter, with replies built as our own values.
#include "gate/resp_codec.hpp"

#include <hiredis/hiredis.h>

#include <array>
#include <cstdlib>
#include <new>

namespace onceward {

namespace {

using Kind = RespReply::Kind;

// hiredis builds a reply top down and hands us the task whose parent holds the array to fill. A
// null answer of ours ends the reading as an error; an exception must not cross its C frames.
void* attach(const redisReadTask* task, RespReply made) noexcept
{
    auto* elements_left = static_cast<std::size_t*>(task->privdata);
    if (*elements_left == 0) return nullptr;
    --*elements_left;
    try {
        if (task->parent == nullptr) return new RespReply(std::move(made));
        // Growth moves finished siblings only: whoever is under construction is the last of its
        // row.
        auto* parent = static_cast<RespReply*>(task->parent->obj);
        return &parent->elements.emplace_back(std::move(made));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

Kind kind_of(const redisReadTask* task)
{
    if (task->type == REDIS_REPLY_ERROR) return Kind::error;
    return task->type == REDIS_REPLY_STATUS ? Kind::status : Kind::text;
}

void* make_string(const redisReadTask* task, char* bytes, size_t size) noexcept
{
    try {
        return attach(task, {kind_of(task), std::string(bytes, size), 0, {}});
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

// A promised size is not believed: room is made as elements come.
void* make_array(const redisReadTask* task, int) noexcept
{
    return attach(task, {Kind::array, {}, 0, {}});
}

void* make_integer(const redisReadTask* task, long long value) noexcept
{
    return attach(task, {Kind::integer, {}, value, {}});
}

void* make_nil(const redisReadTask* task) noexcept
{
    return attach(task, {});
}

void free_reply(void* reply) noexcept
{
    delete static_cast<RespReply*>(reply);
}

redisReplyObjectFunctions& builders()
{
    static redisReplyObjectFunctions functions{make_string, make_array, make_integer, make_nil,
                                               free_reply};
    return functions;
}

}  // namespace

std::string_view RespReply::error_code() const
{
    if (kind != Kind::error) return {};
    return std::string_view(text).substr(0, text.find(' '));
}

std::string encode_command(std::span<const std::string_view> words)
{
    std::vector<const char*> starts;
    std::vector<std::size_t> sizes;
    for (const auto word : words) {
        starts.push_back(word.data());
        sizes.push_back(word.size());
    }
    char* made = nullptr;
    const int size =
        redisFormatCommandArgv(&made, static_cast<int>(words.size()), starts.data(), sizes.data());
    if (size < 0) throw std::bad_alloc();
    std::string command(made, static_cast<std::size_t>(size));
    redisFreeCommand(made);
    return command;
}

void RespReader::Free::operator()(redisReader* reader) const
{
    redisReaderFree(reader);
}

RespReader::RespReader(RespLimits limits)
    : limits_(limits),
      reader_(redisReaderCreateWithFunctions(&builders())),
      elements_left_(limits.elements_max)
{
    if (!reader_) throw std::bad_alloc();
    reader_->privdata = &elements_left_;
}

RespReader::~RespReader() = default;

void RespReader::feed(std::string_view bytes)
{
    if (failed() || bytes.empty()) return;
    unread_ += bytes.size();
    if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK)
        error_ = "the reply could not be kept";
}

std::optional<RespReply> RespReader::next()
{
    if (failed()) return std::nullopt;
    void* made = nullptr;
    if (redisReaderGetReply(reader_.get(), &made) != REDIS_OK) {
        const bool refused = reader_->err == REDIS_ERR_OOM;
        error_ = refused ? "a reply of too many parts" : "not the Redis protocol";
        return std::nullopt;
    }
    if (made == nullptr) {
        if (unread_ > limits_.reply_bytes_max) error_ = "a reply over the size limit";
        return std::nullopt;
    }
    const std::unique_ptr<RespReply> reply(static_cast<RespReply*>(made));
    elements_left_ = limits_.elements_max;
    unread_ = reader_->len - reader_->pos;
    return std::move(*reply);
}

}  // namespace onceward
