// What happened to requests, as log lines and numbers. One per worker.
#pragma once

#include "ops/access_record.hpp"
#include "ops/log.hpp"
#include "ops/metrics.hpp"
#include "ports/key_store.hpp"
#include "ports/observer.hpp"

namespace onceward {

class Telemetry final : public Observer {
public:
    // All outlive this object. `worker`: whose shard of the numbers.
    Telemetry(Log& log, Metrics& metrics, std::size_t worker);

    // Logs outcomes that somebody must look at; they happen even when no client is left to be
    // answered.
    void finished(const ExchangeReport& report) override;
    void fenced(const core::Digest& digest) override;

    // Once per request, guarded or not, when its answer is out: counts it and writes its line.
    // Never blocks.
    void access(const AccessRecord& record);

    // The cleaner's pass that ended now.
    void swept(const SweepReport& report);

    MetricsShard& shard() { return shard_; }

private:
    Log& log_;
    Metrics& metrics_;
    MetricsShard& shard_;
};

}  // namespace onceward
