// An origin, the proxy before it, and the questions that most wire tests ask.
#pragma once

#include "wire/client.hpp"
#include "wire/origin.hpp"
#include "wire/proxy.hpp"

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace onceward::wire {

class World {
public:
    explicit World(Configuration configuration = {}, Script script = {});

    Origin& origin() { return *origin_; }
    Proxy& proxy() { return *proxy_; }
    const Directory& directory() const { return directory_; }
    const Configuration& configuration() const { return configuration_; }

    // One request on a connection of its own.
    Answer ask(std::string_view bytes, std::string_view method = "POST");
    // The record's state as the admin listener tells it, "absent" when there is none.
    std::string state(std::string_view key, std::string_view route = "guarded",
                      std::string_view subject = "");
    // The whole answer of the admin listener about a key.
    Answer lookup(std::string_view key, std::string_view route = "guarded",
                  std::string_view subject = "");
    // A GET to the admin or the observability listener.
    Answer admin(std::string_view target);
    Answer observability(std::string_view target);
    // The value of a metric's series as written, "" when it is absent.
    std::string metric(std::string_view series);

    // Ends the origin; its port refuses connections then. The next one listens on the same port.
    void stop_origin() { origin_.reset(); }
    void start_origin(Script script = {});
    // Another process on the same file and configuration.
    void restart_proxy();

private:
    Directory directory_;
    Configuration configuration_;
    std::unique_ptr<Origin> origin_;
    std::unique_ptr<Proxy> proxy_;
};

// The oracle of a refusal. The bytes, which carry `key`, are answered with one of these statuses,
// an error document and `Connection: close`, and the connection ends; no record was made; and
// afterwards the process executes a well-formed request with the same key, which is all that the
// origin has seen.
void check_refused(World& world, const std::string& what, std::string_view bytes,
                   std::string_view key, std::vector<int> statuses);

// The same for an unguarded request.
void check_refused_unguarded(World& world, const std::string& what, std::string_view bytes,
                             std::vector<int> statuses);

}  // namespace onceward::wire
