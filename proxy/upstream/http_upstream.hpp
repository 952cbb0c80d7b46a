// The legacy API over HTTP/1.1: each guarded request is written once, on one connection.
#pragma once

#include "ports/upstream.hpp"
#include "upstream/connection_pool.hpp"

#include <vector>

namespace onceward {

class HttpUpstream final : public Upstream {
public:
    // `pools[route->upstream]` is the route's origin. The pools outlive this object.
    explicit HttpUpstream(std::vector<ConnectionPool*> pools) : pools_(std::move(pools)) {}

    awaitable<Sent> send(std::shared_ptr<const core::Route> route, core::Request request) override;

private:
    std::vector<ConnectionPool*> pools_;
};

}  // namespace onceward
