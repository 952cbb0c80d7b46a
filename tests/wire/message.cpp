// A small, strict HTTP/1 reader that shares nothing with the proxy's own.
#include "wire/message.hpp"

#include <algorithm>
#include <charconv>

namespace onceward::wire {

namespace {

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

Field field_of(std::string_view line)
{
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) {
        throw WireError("not a header line: " + std::string(line));
    }
    return {std::string(line.substr(0, colon)), std::string(trimmed(line.substr(colon + 1)))};
}

Head parsed(std::string raw)
{
    Head head;
    std::string_view rest = raw;
    while (rest.size() > 2) {
        const auto end = rest.find("\r\n");
        const auto line = rest.substr(0, end);
        if (head.start.empty()) {
            head.start = line;
        } else {
            head.fields.push_back(field_of(line));
        }
        rest.remove_prefix(end + 2);
    }
    head.raw = std::move(raw);
    return head;
}

std::size_t number(std::string_view text, int base)
{
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size()) {
        throw WireError("not a number: " + std::string(text));
    }
    return value;
}

}  // namespace

bool same_name(std::string_view a, std::string_view b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return lower(x) == lower(y); });
}

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

std::string Head::field(std::string_view name) const
{
    const auto values = all(name);
    return values.empty() ? std::string() : values.front();
}

std::size_t Head::count(std::string_view name) const
{
    return all(name).size();
}

std::vector<std::string> Head::all(std::string_view name) const
{
    std::vector<std::string> values;
    for (const auto& field : fields) {
        if (same_name(field.name, name)) values.push_back(field.value);
    }
    return values;
}

int status_of(const Head& head)
{
    if (!head.start.starts_with("HTTP/1.") || head.start.size() < 12) {
        throw WireError("not a status line: " + head.start);
    }
    return static_cast<int>(number(std::string_view(head.start).substr(9, 3), 10));
}

Ending Reader::receive(Deadline deadline)
{
    const auto before = buffer_.size();
    const auto ending = socket_.receive(buffer_, deadline);
    if (received_ != nullptr) *received_ += buffer_.size() - before;
    return ending;
}

// False: the peer ended the connection.
bool Reader::more(Deadline deadline)
{
    switch (receive(deadline)) {
        case Ending::bytes: return true;
        case Ending::closed:
        case Ending::reset: return false;
        case Ending::silent: break;
    }
    throw WireError("nothing came in time; so far: " + buffer_.substr(0, 200));
}

bool Reader::line(std::string& into, Deadline deadline)
{
    std::size_t end;
    while ((end = buffer_.find("\r\n")) == std::string::npos) {
        if (!more(deadline)) return false;
    }
    into = buffer_.substr(0, end);
    buffer_.erase(0, end + 2);
    return true;
}

std::optional<Head> Reader::head(Deadline deadline)
{
    std::size_t end;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
        if (!more(deadline)) return std::nullopt;
    }
    auto raw = buffer_.substr(0, end + 4);
    buffer_.erase(0, end + 4);
    return parsed(std::move(raw));
}

bool Reader::take(Body& body, std::size_t size, const Sink& sink, Deadline deadline)
{
    while (size > 0) {
        if (buffer_.empty() && !more(deadline)) return false;
        const auto part = std::min(size, buffer_.size());
        if (sink) {
            sink(std::string_view(buffer_).substr(0, part));
        } else {
            body.bytes.append(buffer_, 0, part);
        }
        buffer_.erase(0, part);
        body.size += part;
        size -= part;
    }
    return true;
}

void Reader::counted(Body& body, std::size_t size, const Sink& sink, Deadline deadline)
{
    body.framing = Framing::length;
    body.complete = take(body, size, sink, deadline);
}

void Reader::chunks(Body& body, const Sink& sink, Deadline deadline)
{
    body.framing = Framing::chunked;
    std::string text;
    for (;;) {
        if (!line(text, deadline)) return;
        const auto size = number(trimmed(text.substr(0, text.find(';'))), 16);
        if (size == 0) break;
        if (!take(body, size, sink, deadline) || !line(text, deadline)) return;
        if (!text.empty()) throw WireError("a chunk is longer than it says");
    }
    while (line(text, deadline)) {
        if (text.empty()) {
            body.complete = true;
            return;
        }
        body.trailers.push_back(field_of(text));
    }
}

void Reader::until_closed(Body& body, const Sink& sink, Deadline deadline)
{
    body.framing = Framing::to_close;
    for (;;) {
        take(body, buffer_.size(), sink, deadline);
        const auto ending = receive(deadline);
        if (ending == Ending::silent) throw WireError("the connection stays open");
        if (ending == Ending::bytes) continue;
        body.complete = ending == Ending::closed;
        return;
    }
}

Body Reader::request_body(const Head& head, const Sink& sink, Deadline deadline)
{
    Body body;
    if (head.has("Transfer-Encoding")) {
        chunks(body, sink, deadline);
    } else if (head.has("Content-Length")) {
        counted(body, number(head.field("Content-Length"), 10), sink, deadline);
    } else {
        body.complete = true;
    }
    return body;
}

Body Reader::response_body(const Head& head, std::string_view method, const Sink& sink,
                           Deadline deadline)
{
    Body body;
    const int status = status_of(head);
    if (method == "HEAD" || status == 204 || status == 304 || status < 200) {
        body.complete = true;
    } else if (head.has("Transfer-Encoding")) {
        chunks(body, sink, deadline);
    } else if (head.has("Content-Length")) {
        counted(body, number(head.field("Content-Length"), 10), sink, deadline);
    } else {
        until_closed(body, sink, deadline);
    }
    return body;
}

std::string Reader::chunked_bytes(std::size_t size, Deadline deadline)
{
    Body body;
    std::string text;
    while (body.bytes.size() < size) {
        if (!line(text, deadline)) throw WireError("the stream ended");
        const auto chunk = number(text.substr(0, text.find(';')), 16);
        if (chunk == 0 || !take(body, chunk, {}, deadline) || !line(text, deadline)) {
            throw WireError("the stream ended");
        }
    }
    return body.bytes;
}

bool Reader::at_end(Deadline deadline)
{
    if (!buffer_.empty()) return false;
    const auto ending = receive(deadline);
    return ending == Ending::closed || ending == Ending::reset;
}

}  // namespace onceward::wire
