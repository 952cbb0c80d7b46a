// The raw client, and the usual requests.
#include "wire/client.hpp"

#include <nlohmann/json.hpp>

namespace onceward::wire {

std::string json_member(std::string_view text, std::string_view member)
{
    const auto parsed = nlohmann::json::parse(text, nullptr, false);
    if (!parsed.is_object() || !parsed.contains(member)) return "";
    const auto& value = parsed[std::string(member)];
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string Answer::json(std::string_view member) const
{
    return json_member(body.bytes, member);
}

Head Client::read_head()
{
    auto head = reader_.head();
    if (!head) throw WireError("the proxy ended the connection without an answer");
    return std::move(*head);
}

Answer Client::read(std::string_view method, const Sink& sink)
{
    Answer answer;
    for (;;) {
        answer.head = read_head();
        answer.status = status_of(answer.head);
        if (answer.status >= 200) break;
        answer.interim.push_back(std::move(answer.head));
    }
    answer.body = reader_.response_body(answer.head, method, sink);
    return answer;
}

Answer Client::ask(std::string_view bytes, std::string_view method)
{
    send(bytes);
    return read(method);
}

Answer ask(std::uint16_t port, std::string_view bytes, std::string_view method)
{
    Client client(port);
    return client.ask(bytes, method);
}

std::string post(std::string_view target, std::string_view key, std::string_view body,
                 std::string_view fields)
{
    std::string bytes = "POST ";
    bytes.append(target).append(" HTTP/1.1\r\nHost: a\r\nIdempotency-Key: \"").append(key);
    bytes.append("\"\r\nContent-Type: application/json\r\n").append(fields);
    bytes.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
    return bytes.append(body);
}

std::string get(std::string_view target, std::string_view fields)
{
    std::string bytes = "GET ";
    bytes.append(target).append(" HTTP/1.1\r\nHost: a\r\n").append(fields);
    return bytes.append("\r\n");
}

}  // namespace onceward::wire
