// Keeps every report.
#pragma once

#include "ports/observer.hpp"

#include <vector>

namespace onceward::test {

class RecordingObserver final : public Observer {
public:
    void finished(const ExchangeReport& report) override { reports.push_back(report); }
    void fenced(const core::Digest& digest) override { fenced_keys.push_back(digest); }

    std::vector<ExchangeReport> reports;
    std::vector<core::Digest> fenced_keys;
};

}  // namespace onceward::test
