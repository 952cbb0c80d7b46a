// The connection through which a worker ends its own backends whose answers were given up. It is
// opened before any of them, so that it is there when the server has no slot left.
#pragma once

#include "store/pg_batcher.hpp"

namespace onceward {

class PgControl {
public:
    PgControl(boost::asio::any_io_executor executor, std::shared_ptr<const PgSession> session);

    // True once the connection is open.
    awaitable<bool> ensure();

    // True when this backend, and no other that got its number, is gone.
    awaitable<bool> end(PgFacts backend);

    void close() { lane_->close(); }

private:
    struct End {
        std::int64_t pid = 0;  // 0: nothing but the connection is asked for.
        std::int64_t started = 0;
    };
    enum class Ended : std::uint8_t { yes, no };
    class Ends;

    std::shared_ptr<PgLane> lane_;
    Ends* ends_ = nullptr;
};

}  // namespace onceward
