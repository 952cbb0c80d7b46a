// The observability listener's answers: /livez, /readyz and /metrics, and nothing else.
#pragma once

#include "ops/health.hpp"
#include "ops/http_endpoint.hpp"
#include "ops/metrics.hpp"

namespace onceward {

// GET /livez: 200 while the process runs; it looks at nothing else, so that an outage elsewhere
// restarts nobody. GET /readyz: 200 when traffic is wanted, else 503; `?verbose` lists the
// dependencies, and so does an Accept of application/json. GET /metrics: Prometheus text. Other
// paths 404, other methods 405. No key, no record.
SideResponse answer_observability(const SideRequest& request, const Health& health,
                                  const Metrics& metrics);

// The same as an endpoint's handler; both outlive the endpoint.
SideHandler observability_handler(const Health& health, const Metrics& metrics);

}  // namespace onceward
