// explain: what the configuration makes of one request, route by route.
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/exit_code.hpp"
#include "cli/stored.hpp"
#include "core/fingerprint.hpp"
#include "settings/files.hpp"
#include "settings/values.hpp"

#include <ostream>

namespace onceward::cli {

namespace {

constexpr std::size_t body_max = 64 << 20;

// The part of a URL that a request line carries.
std::string target_of(const std::string& url)
{
    const auto scheme = url.find("://");
    if (scheme == std::string::npos) return url.starts_with('/') ? url : "/" + url;
    const auto slash = url.find_first_of("/?", scheme + 3);
    if (slash == std::string::npos) return "/";
    return url[slash] == '?' ? "/" + url.substr(slash) : url.substr(slash);
}

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

bool add_header(core::Fields& fields, std::string_view header)
{
    const auto colon = header.find(':');
    if (colon == std::string_view::npos) return false;
    const auto name = header.substr(0, colon);
    return core::is_token(name) && fields.add(name, trimmed(header.substr(colon + 1)));
}

// Absent after the mistake was printed.
std::optional<core::Request> request_of(const ExplainCommand& command, const Surroundings& around)
{
    core::Request request;
    request.method = command.method;
    request.target = target_of(command.url);
    if (!core::is_token(command.method)) {
        usage_error(around, "this is no method: " + command.method);
        return std::nullopt;
    }
    for (const auto& header : command.headers) {
        if (!add_header(request.fields, header)) {
            usage_error(around, "this is no header field, write 'Name: value': " + header);
            return std::nullopt;
        }
    }
    request.body = command.data;
    if (command.data.starts_with('@')) {
        auto body = read_small_file(command.data.substr(1), body_max);
        if (!body) {
            usage_error(around, "cannot read the file " + command.data.substr(1));
            return std::nullopt;
        }
        request.body = std::move(*body);
    }
    return request;
}

std::string path_rule(const core::Match& match)
{
    switch (match.kind) {
        case core::PathMatch::any: return "any path";
        case core::PathMatch::exact: return "path " + match.path;
        case core::PathMatch::prefix: return "path prefix " + match.path;
        case core::PathMatch::regex: return "path regex " + match.path;
    }
    return "path";
}

std::string_view mode_name(core::Mode mode)
{
    switch (mode) {
        case core::Mode::off: return "off";
        case core::Mode::observe: return "observe (runs as off)";
        case core::Mode::enforce: return "enforce";
    }
    return "off";
}

// Why a route does not meet this method and path; empty when it does.
std::string miss(const core::Match& match, std::string_view method, std::string_view path)
{
    if (core::meets(match, method, path)) return "";
    core::Match path_only = match;
    path_only.methods = {"POST"};
    return core::meets(path_only, "POST", path) ? "method" : path_rule(match);
}

// Every route in order, as the request's own method and path try them.
std::string tried(const core::RouteTable& routes, std::string_view method, const std::string& path)
{
    std::string text;
    for (const auto& route : routes.routes()) {
        const auto why_not = miss(route->match, method, path);
        text.append(text.empty() ? "" : ", ").append(route->name);
        text.append(why_not.empty() ? " \u2713" : " \u2717 " + why_not);
        if (why_not.empty()) break;
    }
    return text.empty() ? "there are no routes" : text;
}

std::string key_text(const core::Policy& policy, const core::Fields& fields)
{
    const auto key = core::read_key(fields, policy.key);
    if (std::holds_alternative<core::KeyMissing>(key)) return "none in " + policy.key.header;
    if (const auto* invalid = std::get_if<core::KeyInvalid>(&key))
        return "invalid: " + std::string(invalid->why);
    const auto size = std::get<std::string>(key).size();
    return "ok, " + std::to_string(size) + (size == 1 ? " byte" : " bytes");
}

class Explanation {
public:
    Explanation(const Settings& settings, std::ostream& out) : settings_(settings), out_(out) {}

    void tell(const core::Request& request, const std::string& url, bool trusted)
    {
        const auto& policy = settings_.policy;
        const std::string path = request.target.substr(0, request.target.find_first_of("?#"));
        const std::string method = core::upper(request.method);
        auto plan = core::plan(policy, request.method, request.target, request.fields, trusted);
        auto met = policy.routes.first(method, path);
        if (const auto* guard = std::get_if<core::Guard>(&plan)) met = guard->route;

        out_ << request.method << " " << url << "\n";
        line("route", (met ? met->name : "none") + file() +
                          "   (tried: " + tried(policy.routes, method, path) + ")");
        if (met && !miss(met->match, method, path).empty()) {
            line("met as",
                 "what a lenient server may see: a method override, or the path normalised");
        }
        if (met) route_lines(*met);
        line("key", key_text(policy, request.fields));
        line("subject", subject_text(request.fields, trusted));
        if (const auto* guard = std::get_if<core::Guard>(&plan)) digests(*guard, request);
        line("verdict", verdict(plan, met.get()));
    }

private:
    void line(std::string_view name, const std::string& text)
    {
        out_ << name << std::string(name.size() < 12 ? 12 - name.size() : 1, ' ') << text << "\n";
    }

    std::string file() const { return settings_.file.empty() ? "" : "   " + settings_.file; }

    void route_lines(const core::Route& route)
    {
        line("mode", std::string(mode_name(route.mode)) + "   tier " + route.tier.name +
                         "   retention " + show_duration(route.tier.retention) + "   lease " +
                         show_duration(route.tier.lease) + "   timeout " +
                         show_duration(route.timeout));
    }

    std::string subject_text(const core::Fields& fields, bool trusted) const
    {
        const auto& rule = settings_.policy.subject;
        const auto subject = core::read_subject(fields, rule, trusted);
        if (const auto* missing = std::get_if<core::SubjectMissing>(&subject)) {
            return rule.form() + " -> refused: " + std::string(missing->why);
        }
        if (rule.kind == core::SubjectKind::shared) return "shared: all callers are one party";
        return rule.form() + " -> sha256 " + core::short_hash(std::get<std::string>(subject), 8);
    }

    // Needs the installation's secret, which an offline look at a file may not have.
    void digests(const core::Guard& guard, const core::Request& request)
    {
        line("action", guard.method + " " + guard.route->id);
        const auto secret = existing_secret(settings_.store);
        if (!secret) {
            line("record", "not computed: the secret does not exist yet, or may not be read");
            return;
        }
        core::KeyScope scope;
        scope.subject = guard.subject;
        scope.route_id = guard.route->id;
        scope.method = guard.method;
        scope.key = guard.key;
        line("record", core::key_digest(secret->key_hash(), scope).hex());
        const auto fingerprint =
            core::raw_fingerprint(secret->fingerprint_hash(), guard.method, request);
        line("fingerprint", "raw -> " + fingerprint.hex());
    }

    std::string verdict(const core::Plan& plan, const core::Route* met) const
    {
        if (const auto* guard = std::get_if<core::Guard>(&plan)) {
            return "would be GUARDED on route " + guard->route->name +
                   ": the first such request runs once, later ones get its answer";
        }
        if (const auto* reject = std::get_if<core::Reject>(&plan)) {
            const auto& kind = core::kind_of(reject->problem.code);
            return "would be REJECTED with " + std::to_string(reject->problem.effective_status()) +
                   " " + std::string(kind.code) + ": " + reject->problem.detail;
        }
        if (std::get<core::PassThrough>(plan).keyless)
            return "would PASS THROUGH unprotected: it has no key";
        if (met != nullptr) return "would PASS THROUGH unprotected: the route does not enforce";
        return "would PASS THROUGH: no route meets it";
    }

    const Settings& settings_;
    std::ostream& out_;
};

}  // namespace

int execute(const ExplainCommand& command, const Surroundings& around)
{
    const auto request = request_of(command, around);
    if (!request) return ExitCode::usage;
    const auto settings = load_settings(around, command.config, true, true);
    if (!settings) return ExitCode::config_invalid;
    Explanation(*settings, around.out).tell(*request, command.url, command.trusted);
    return ExitCode::ok;
}

}  // namespace onceward::cli
