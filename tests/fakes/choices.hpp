// Depth-first search over lists of choices, and the key by which two states are the same.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace onceward::test {

// 128 bits: a few million states share a key with a probability that can be forgotten.
struct StateKey {
    std::uint64_t first = 0x9E3779B97F4A7C15;
    std::uint64_t second = 0xC2B2AE3D27D4EB4F;

    auto operator<=>(const StateKey&) const = default;

    StateKey& mix(std::uint64_t value)
    {
        first = scatter(first ^ (value * 0xFF51AFD7ED558CCD));
        second = scatter((second + value) * 0xC4CEB9FE1A85EC53);
        return *this;
    }
    StateKey& mix(std::string_view text)
    {
        mix(text.size());
        std::uint64_t hash = 0xCBF29CE484222325;
        for (const char byte : text)
            hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
        return mix(hash);
    }
    StateKey& mix(const StateKey& other) { return mix(other.first).mix(other.second); }

private:
    static std::uint64_t scatter(std::uint64_t value)
    {
        value ^= value >> 31;
        value *= 0x7FB5D329728EA185;
        value ^= value >> 27;
        return value * 0x81DADEF4BC2DD44D ^ value >> 33;
    }
};

struct StateKeyHash {
    std::size_t operator()(const StateKey& key) const { return key.first ^ key.second; }
};

// Replays a list of choices, extends it with first choices, then steps to the next list that was
// not tried. What follows from a state depends on nothing but the state, and no state is met twice
// on one path (histories only grow): a state that was met before was explored to its end, so the
// path that meets it again stops there.
class Choices {
public:
    explicit Choices(bool prunes = true) : prunes_(prunes) {}

    // One list only, for looking at one schedule again. Beyond its end the first choice is taken.
    explicit Choices(std::vector<int> fixed) : prunes_(false), fixed_(std::move(fixed)) {}

    // A number below `width`; absent when what follows is known already.
    std::optional<int> pick(int width, const std::function<StateKey()>& key)
    {
        if (fixed_) {
            const int chosen = next_ < fixed_->size() ? (*fixed_)[next_] : 0;
            ++next_;
            made_.push_back({chosen < width ? chosen : 0, width, {}, 0});
            return made_.back().chosen;
        }
        if (next_ < made_.size()) return made_[next_++].chosen;
        const auto state = prunes_ ? key() : StateKey{};
        if (prunes_) {
            const auto known = explored_.find(state);
            if (known != explored_.end()) {
                schedules_here_ = known->second;
                return std::nullopt;
            }
        }
        ++states_;
        made_.push_back({0, width, state, 0});
        ++next_;
        return 0;
    }

    // After each run: on to the next one; false when all were made.
    bool advance()
    {
        double below = schedules_here_;
        schedules_here_ = 1;
        next_ = 0;
        if (fixed_) return false;
        while (!made_.empty()) {
            auto& point = made_.back();
            point.schedules += below;
            if (++point.chosen < point.width) return true;
            below = point.schedules;
            if (prunes_) explored_.emplace(point.state, below);
            made_.pop_back();
        }
        schedules_ = below;
        return false;
    }

    // After the last run: how many complete schedules there are, each counted even if its end was
    // known.
    double schedules() const { return schedules_; }
    std::uint64_t states() const { return states_; }

    std::vector<int> made() const
    {
        std::vector<int> list;
        for (std::size_t at = 0; at < next_ && at < made_.size(); ++at)
            list.push_back(made_[at].chosen);
        return list;
    }

private:
    struct Point {
        int chosen = 0;
        int width = 0;
        StateKey state;
        double schedules = 0;
    };

    bool prunes_;
    std::optional<std::vector<int>> fixed_;
    std::vector<Point> made_;
    std::size_t next_ = 0;
    std::unordered_map<StateKey, double, StateKeyHash> explored_;
    double schedules_here_ = 1;
    double schedules_ = 0;
    std::uint64_t states_ = 0;
};

}  // namespace onceward::test
