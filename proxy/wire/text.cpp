// Writing heads.
#include "wire/text.hpp"

#include <boost/beast/http/status.hpp>

namespace onceward::wire {

void append_field(std::string& head, std::string_view name, std::string_view value)
{
    if (!core::is_token(name) || !core::is_field_value(value)) return;
    head.append(name).append(": ").append(value).append("\r\n");
}

void append_fields(std::string& head, const core::Fields& fields)
{
    for (const auto field : fields)
        head.append(field.name).append(": ").append(field.value).append("\r\n");
}

void append_request_line(std::string& head, std::string_view method, std::string_view target)
{
    head.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
}

void append_status_line(std::string& head, int status, std::string_view reason)
{
    head.append("HTTP/1.1 ").append(std::to_string(status)).append(" ");
    head.append(reason.empty() ? standard_reason(status) : reason).append("\r\n");
}

std::string_view standard_reason(int status)
{
    namespace http = boost::beast::http;
    const auto known = http::int_to_status(static_cast<unsigned>(status));
    if (known == http::status::unknown) return "Unknown";
    const auto reason = http::obsolete_reason(known);
    return {reason.data(), reason.size()};
}

}  // namespace onceward::wire
