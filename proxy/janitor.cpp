// The cleaner's loop.
#include "janitor.hpp"

namespace onceward {

Janitor::Janitor(KeyStore& store, Clock& clock, JanitorPace pace, Report report)
    : store_(store), pace_(pace), report_(std::move(report)), alarm_(clock.alarm())
{
}

awaitable<void> Janitor::run()
{
    while (!stopped_) {
        const auto swept = co_await store_.sweep(pace_.rows);
        if (swept) report_(*swept);
        if (stopped_) break;
        co_await alarm_->wait(pace_.interval);
    }
}

void Janitor::stop()
{
    stopped_ = true;
    alarm_->ring();
}

}  // namespace onceward
