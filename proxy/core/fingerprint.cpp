// The fingerprint rules.
#include "core/fingerprint.hpp"

namespace onceward::core {

std::string media_type(std::string_view content_type)
{
    std::string type;
    for (char c : content_type.substr(0, content_type.find(';'))) {
        if (c == ' ' || c == '\t') continue;
        type.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c);
    }
    return type;
}

Fingerprint raw_fingerprint(const KeyedHash& hash, std::string_view method, const Request& request,
                            std::string_view overrides)
{
    const std::string_view target = request.target;
    const auto question = target.find('?');
    const auto path = target.substr(0, question);
    const auto query =
        question == std::string_view::npos ? std::string_view{} : target.substr(question);

    LengthPrefixed message;
    message.add("onceward fingerprint raw 1").add(method).add(path).add(query);
    message.add(media_type(request.fields.find("Content-Type").value_or("")));
    message.add(request.fields.find("Content-Encoding").value_or(""));
    message.add(request.body);
    if (!overrides.empty()) message.add(overrides);
    return {hash.sum(message.bytes())};
}

}  // namespace onceward::core
