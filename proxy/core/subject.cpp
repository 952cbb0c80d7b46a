// Reading the subject of a key.
#include "core/subject.hpp"

#include <algorithm>
#include <array>

namespace onceward::core {

namespace {

// Schemes whose credentials differ from request to request, so that a retry would be somebody
// else's.
constexpr std::array<std::string_view, 13> per_request_schemes{
    "AWS",  "Digest",    "DPoP",  "Hawk",      "HOBA",          "MAC",      "Mutual",
    "NTLM", "Negotiate", "OAuth", "SharedKey", "SharedKeyLite", "Signature"};

// Families of them: AWS4-HMAC-SHA256, EG1-HMAC-SHA256, SCRAM-SHA-256 and their likes.
constexpr std::array<std::string_view, 4> per_request_parts{"AWS4-", "HMAC", "SCRAM-", "ECDSA"};

bool signs_each_request(std::string_view scheme)
{
    const auto same = [scheme](std::string_view other) { return same_name(scheme, other); };
    if (std::any_of(per_request_schemes.begin(), per_request_schemes.end(), same)) return true;
    const auto contains = [scheme](std::string_view part) {
        for (std::size_t i = 0; i + part.size() <= scheme.size(); ++i) {
            if (same_name(scheme.substr(i, part.size()), part)) return true;
        }
        return false;
    };
    return std::any_of(per_request_parts.begin(), per_request_parts.end(), contains);
}

bool is_base64url(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '=';
    });
}

// header.payload.signature, the header being base64url of a JSON object: `{"` is `eyJ`, `{ ` begins
// with `ey`. The second part of an encrypted token, or of one with a detached payload, may be
// empty.
bool is_jwt_shaped(std::string_view token)
{
    const auto first = token.find('.');
    if (first == std::string_view::npos) return false;
    const auto second = token.find('.', first + 1);
    if (second == std::string_view::npos) return false;
    return token.starts_with("ey") && is_base64url(token.substr(0, first)) &&
           is_base64url(token.substr(first + 1, second - first - 1));
}

SubjectResult judge_credential(std::string_view value)
{
    if (value.empty()) return SubjectMissing{"the credential is empty"};
    constexpr std::string_view blanks = " \t";
    const auto blank = value.find_first_of(blanks);
    if (blank != std::string_view::npos && signs_each_request(value.substr(0, blank))) {
        return SubjectMissing{
            "the credential changes with every request, so no retry could match it"};
    }
    const auto last_blank = value.find_last_of(blanks);
    const auto token = last_blank == std::string_view::npos ? value : value.substr(last_blank + 1);
    if (is_jwt_shaped(token)) {
        return SubjectMissing{
            "the credential is a rotating token, so a later retry would not match it"};
    }
    return std::string(value);
}

}  // namespace

std::string SubjectRule::form() const
{
    std::string lower = header;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    });
    switch (kind) {
        case SubjectKind::credential: return "credential:" + lower;
        case SubjectKind::trusted_header: return "header:" + lower;
        case SubjectKind::shared: return "shared";
    }
    return "shared";
}

SubjectResult read_subject(const Fields& fields, const SubjectRule& rule, bool peer_trusted)
{
    if (rule.kind == SubjectKind::shared) return std::string();
    if (rule.kind == SubjectKind::trusted_header && !peer_trusted) {
        return SubjectMissing{"the caller did not come through a trusted proxy"};
    }
    if (fields.count(rule.header) > 1) return SubjectMissing{"the caller is named more than once"};
    const auto value = fields.find(rule.header);
    if (!value) return SubjectMissing{"the request does not say who the caller is"};
    if (rule.kind == SubjectKind::credential) return judge_credential(*value);
    if (value->empty()) return SubjectMissing{"the caller's name is empty"};
    return std::string(*value);
}

}  // namespace onceward::core
