// The scripted upstream.
#include "wire/origin.hpp"

#include <array>
#include <iterator>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace onceward::wire {

namespace {

void answer_by_number(Call& call)
{
    const auto number = std::to_string(call.request().number);
    const bool head_only = call.request().head.start.starts_with("HEAD ");
    auto bytes = answer("201 Created", "thing " + number,
                        "Location: /things/" + number + "\r\nContent-Type: text/plain\r\n");
    if (head_only) bytes.resize(bytes.find("\r\n\r\n") + 4);
    call.send(bytes);
}

}  // namespace

Gate::Gate() : descriptor_(::eventfd(0, EFD_CLOEXEC)) {}

Gate::~Gate()
{
    ::close(descriptor_);
}

void Gate::open()
{
    ::eventfd_write(descriptor_, 1);
}

bool Call::wait(const Gate& gate)
{
    std::array<pollfd, 2> entries{
        {{gate.descriptor(), POLLIN, 0}, {origin_.stop_.descriptor(), POLLIN, 0}}};
    return ::poll(entries.data(), entries.size(), 60'000) > 0 && entries[0].revents != 0;
}

bool Call::left_by_peer()
{
    return reader_.at_end();
}

std::string answer(std::string_view status, std::string_view body, std::string_view fields)
{
    std::string bytes = "HTTP/1.1 ";
    bytes.append(status).append("\r\n").append(fields);
    bytes.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
    return bytes.append(body);
}

Script sends(std::string bytes)
{
    return [bytes = std::move(bytes)](Call& call) { call.send(bytes); };
}

Script sends_and_closes(std::string bytes)
{
    return [bytes = std::move(bytes)](Call& call) {
        call.send(bytes);
        call.close();
    };
}

Origin::Origin(Script script, std::uint16_t port)
    : listener_(listen_on(port)),
      port_(port_of(listener_.descriptor())),
      script_(script ? std::move(script) : answer_by_number)
{
    acceptor_ = std::thread([this] { accept_all(); });
}

Origin::~Origin()
{
    stop_.open();
    listener_.shut_down();
    acceptor_.join();
    {
        const std::scoped_lock lock(mutex_);
        for (auto& socket : sockets_)
            socket.shut_down();
    }
    for (auto& thread : threads_)
        thread.join();
}

void Origin::accept_all()
{
    for (;;) {
        const int descriptor = ::accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
        if (descriptor < 0) return;
        const std::scoped_lock lock(mutex_);
        auto& socket = sockets_.emplace_back(descriptor);
        ended_.push_back(false);
        const auto connection = ended_.size();
        threads_.emplace_back([this, connection, &socket] { serve(connection, socket); });
        changed_.notify_all();
    }
}

void Origin::serve(std::size_t connection, Socket& socket)
{
    Reader reader(socket, &bytes_);
    try {
        while (serve_one(connection, socket, reader)) {
        }
    } catch (const WireError&) {
        // A silent or foreign peer: the connection ends, and the test sees what was received.
    }
    note_end(connection);
}

bool Origin::serve_one(std::size_t connection, Socket& socket, Reader& reader)
{
    auto head = reader.head(within(std::chrono::minutes(5)));
    if (!head) return false;
    Received received;
    received.connection = connection;
    received.head = std::move(*head);
    Script on_head;
    std::size_t index;
    {
        const std::scoped_lock lock(mutex_);
        index = received_.size();
        received.number = index + 1;
        received_.push_back(received);
        on_head = on_head_;
        changed_.notify_all();
    }
    Call call(*this, socket, reader, received);
    if (on_head) on_head(call);
    const Sink drop = [](std::string_view) {};
    received.body = reader.request_body(received.head, keep_bodies_ ? Sink{} : drop);
    Script script;
    {
        const std::scoped_lock lock(mutex_);
        received_[index] = received;
        script = script_;
        changed_.notify_all();
    }
    if (!received.body.complete) return false;
    script(call);
    return socket.is_open();
}

void Origin::note_end(std::size_t connection)
{
    const std::scoped_lock lock(mutex_);
    std::next(sockets_.begin(), static_cast<std::ptrdiff_t>(connection - 1))->close();
    ended_[connection - 1] = true;
    changed_.notify_all();
}

void Origin::script(Script script)
{
    const std::scoped_lock lock(mutex_);
    script_ = script ? std::move(script) : answer_by_number;
}

void Origin::on_head(Script script)
{
    const std::scoped_lock lock(mutex_);
    on_head_ = std::move(script);
}

std::size_t Origin::requests() const
{
    const std::scoped_lock lock(mutex_);
    return received_.size();
}

std::size_t Origin::connections() const
{
    const std::scoped_lock lock(mutex_);
    return ended_.size();
}

Received Origin::request(std::size_t number) const
{
    const std::scoped_lock lock(mutex_);
    if (number == 0 || number > received_.size()) throw WireError("the origin has no such request");
    return received_[number - 1];
}

bool Origin::wait_for_requests(std::size_t count) const
{
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return received_.size() >= count; });
}

bool Origin::wait_for_end(std::size_t connection) const
{
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience,
                             [&] { return ended_.size() >= connection && ended_[connection - 1]; });
}

void Origin::close_connections()
{
    const std::scoped_lock lock(mutex_);
    for (auto& socket : sockets_)
        socket.shut_down();
}

}  // namespace onceward::wire
