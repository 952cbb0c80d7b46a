// Bounded copies of settled records.
#include "gate/settled_cache.hpp"

#include <utility>

namespace onceward {

namespace {

constexpr std::size_t upkeep = 320;  // What an entry costs beside its bytes, about.

std::size_t bytes_of(const core::Record& record)
{
    return upkeep + record.answer.fields.encoded().size() + record.answer.body.size();
}

}  // namespace

std::optional<core::Record> SettledCache::find(const core::Digest& digest, Time now)
{
    const auto found = places_.find(digest);
    if (found == places_.end()) return std::nullopt;
    const auto place = found->second;
    if (now >= place->expires) {
        drop(place);
        return std::nullopt;
    }
    entries_.splice(entries_.begin(), entries_, place);
    auto record = place->record;
    const auto elapsed = std::chrono::ceil<core::Millis>(now - place->kept_at);
    record.remaining -= elapsed;
    record.age += elapsed;
    return record;
}

void SettledCache::keep(const core::Digest& digest, core::Record record, Time now)
{
    const auto lifetime = copy_lifetime(record.remaining, limits_.cache_ttl);
    const auto bytes = bytes_of(record);
    const bool fits = bytes <= limits_.record_bytes_max && bytes <= limits_.bytes_max;
    if (!is_copied(record) || !fits || lifetime <= core::Millis{0}) return;

    const auto found = places_.find(digest);
    if (found != places_.end()) {
        if (found->second->record.epoch > record.epoch) return;
        drop(found->second);
    }
    while (bytes_ + bytes > limits_.bytes_max)
        drop(std::prev(entries_.end()));
    entries_.push_front({digest, std::move(record), now, now + lifetime, bytes});
    places_.emplace(digest, entries_.begin());
    bytes_ += bytes;
}

void SettledCache::drop(Place place)
{
    bytes_ -= place->bytes;
    places_.erase(place->digest);
    entries_.erase(place);
}

awaitable<GateAnswer> CachingGate::lookup(core::Digest digest)
{
    auto record = cache_.find(digest, clock_.now());
    if (record) co_return GateSettled{std::move(*record)};
    auto answer = co_await inner_.lookup(digest);
    co_return answer;
}

void CachingGate::publish(core::Digest digest, const core::Record& record)
{
    auto copy = record;
    if (copy.settled_at == core::StoreTime{}) copy.settled_at = wall_time_();
    cache_.keep(digest, std::move(copy), clock_.now());
    inner_.publish(digest, record);
}

}  // namespace onceward
