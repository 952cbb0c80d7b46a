// Rules across the fields of a configuration.
#include "settings/check.hpp"

#include "settings/check_routes.hpp"
#include "settings/codes.hpp"
#include "settings/files.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

namespace onceward {

namespace {

constexpr std::size_t secret_bytes_min = 16;
constexpr std::size_t secret_file_bytes_max = 64 << 10;

void check_upstream(Reader& reader, const Draft& draft)
{
    if (draft.upstream_stated) return;
    auto& diagnostic = reader.error(codes::no_upstream, draft.server_place, "server.upstream",
                                    "server.upstream is required");
    diagnostic.notes.emplace_back(
        "it is the API that is protected: `upstream: http://127.0.0.1:3000`");
}

void check_admin(Reader& reader, const Draft& draft)
{
    const auto& listen = draft.settings.admin.listen;
    if (!draft.admin_listen.valid || !listen || is_loopback(*listen)) return;
    auto& diagnostic = reader.error(codes::admin_not_loopback, draft.admin_listen.place,
                                    "admin.listen", "admin.listen is not a loopback address");
    diagnostic.caret = "everybody who reaches it could read keys";
    diagnostic.notes.emplace_back("it has no access tokens yet: use 127.0.0.1:9480, or `off`");
}

void check_subject(Reader& reader, Draft& draft)
{
    if (!draft.keys.subject_stated) {
        auto& diagnostic = reader.error(codes::subject_required, draft.keys.place, "keys.subject",
                                        "keys.subject is required");
        diagnostic.notes.emplace_back(
            "without it a client could read another client's stored answer by guessing its key");
        diagnostic.notes.emplace_back(
            "choose `subject: credential` (the Authorization header), `credential:X-Api-Key` (a "
            "static key),\n"
            "`header:X-User` (set by a proxy of `trusted_proxies`),\n"
            "or write `subject: shared` if all callers are one party");
        return;
    }
    if (!draft.keys.subject) return;
    draft.settings.policy.subject = *draft.keys.subject;
    const bool unreachable = draft.keys.subject->kind == core::SubjectKind::trusted_header &&
                             draft.settings.server.trusted_proxies.empty();
    if (!unreachable) return;
    auto& diagnostic = reader.warning(codes::nobody_trusted, draft.keys.subject_written.place,
                                      "keys.subject", "nobody may set the header of keys.subject");
    diagnostic.caret = "removed from every request, so every guarded one is refused";
    diagnostic.notes.emplace_back("list the proxies in front under `server.trusted_proxies`");
}

std::string lower(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    });
    return out;
}

// Fields that mean something else already, to the protocol or to the rest of the configuration.
bool is_taken(const std::string& name, const Draft& draft)
{
    static const std::set<std::string> taken{"authorization",
                                             "connection",
                                             "content-length",
                                             "content-type",
                                             "cookie",
                                             "date",
                                             "expect",
                                             "host",
                                             "te",
                                             "trailer",
                                             "transfer-encoding",
                                             "upgrade",
                                             "via"};
    const auto& subject = draft.keys.subject;
    const bool is_subject =
        subject && subject->kind != core::SubjectKind::shared && lower(subject->header) == name;
    return is_subject || taken.contains(name);
}

void check_key_headers(Reader& reader, const Draft& draft)
{
    std::set<std::string> seen;
    if (!draft.keys.header_stated) seen.insert(lower(draft.settings.policy.key.header));
    for (const auto& header : draft.keys.headers) {
        const auto name = lower(header.text);
        if (is_taken(name, draft)) {
            reader
                .error(codes::key_header, header.place, "keys",
                       "header `" + header.text + "` cannot carry the key")
                .caret = "it means something else already";
        } else if (!seen.insert(name).second) {
            reader
                .error(codes::key_header, header.place, "keys",
                       "header `" + header.text + "` is listed twice")
                .caret = "the second time";
        }
    }
}

void check_secret(Reader& reader, const Draft& draft)
{
    const auto& store = draft.settings.store;
    if (draft.keys.secret.valid && draft.keys.secret_file.valid) {
        auto& diagnostic =
            reader.error(codes::several_secrets, draft.keys.secret_file.place, "keys.secret_file",
                         "keys.secret and keys.secret_file exclude each other");
        diagnostic.caret = "keep one of them";
        return;
    }
    if (!store.secret.empty() && store.secret.size() < secret_bytes_min) {
        reader
            .error(codes::secret, draft.keys.secret.place, "keys.secret",
                   "keys.secret is shorter than 16 bytes")
            .notes.emplace_back("`openssl rand -hex 32` makes a good one");
        return;
    }
    if (store.secret_file.empty() || reader.offline()) return;
    const auto bytes = read_small_file(store.secret_file, secret_file_bytes_max);
    if (bytes && bytes->size() >= secret_bytes_min) return;
    auto& diagnostic =
        reader.error(codes::secret, draft.keys.secret_file.place, "keys.secret_file",
                     bytes ? "keys.secret_file holds fewer than 16 bytes"
                           : "keys.secret_file cannot be read: " + store.secret_file);
    diagnostic.notes.emplace_back(
        "`openssl rand -hex 32` makes a good one; without this setting the embedded store makes "
        "its own");
}

// Without a word about the store it is a file beside the working directory, or in systemd's state
// directory.
std::string default_sqlite(const Environment& environment)
{
    const auto directories = environment("STATE_DIRECTORY");
    if (!directories || directories->empty()) return "./onceward.db";
    return directories->substr(0, directories->find(':')) + "/onceward.db";
}

void check_store(Reader& reader, Draft& draft)
{
    if (draft.sqlite.valid && draft.postgres.valid) {
        auto& diagnostic =
            reader.error(codes::several_stores, draft.postgres.place, "store.postgres",
                         "store.sqlite and store.postgres exclude each other");
        diagnostic.caret = "keep one of them";
        return;
    }
    if (!draft.sqlite.valid && !draft.postgres.valid) {
        draft.settings.store.sqlite = default_sqlite(reader.environment());
    }
}

core::Millis rounded_up(core::Millis value)
{
    using std::chrono::days, std::chrono::hours, std::chrono::minutes;
    if (value >= days{2}) return std::chrono::ceil<days>(value);
    if (value >= hours{2}) return std::chrono::ceil<hours>(value);
    if (value >= minutes{2}) return std::chrono::ceil<minutes>(value);
    return std::chrono::ceil<std::chrono::seconds>(value);
}

// E111: the retention must be longer than the time in which a retry can still come (EXP-2).
void check_budget(Reader& reader, const TierDraft& tier)
{
    if (!tier.tier.retry_budget || !tier.retry_budget.valid || !tier.retention.valid) return;
    const auto& budget = *tier.tier.retry_budget;
    if (core::covers(tier.tier.retention, budget)) return;
    const auto sum = show_duration(budget.sum());
    auto& diagnostic =
        reader.error(codes::budget, tier.retention.place, "tiers." + tier.tier.name + ".retention",
                     "tiers." + tier.tier.name + ".retention " + tier.retention.text +
                         " is not longer than its own retry budget " + sum);
    diagnostic.caret = tier.retention.text;
    diagnostic.labels.push_back(
        {tier.retry_budget.place, "total " + show_duration(budget.total) + " + skew " +
                                      show_duration(budget.skew) + " + replay window " +
                                      show_duration(budget.replay_window) + " = " + sum});
    diagnostic.notes.push_back("a retry after " + tier.retention.text +
                               " would be executed a second time");
    const auto usable = rounded_up(budget.sum() + core::Millis{1});
    diagnostic.notes.push_back("help: use at least `retention: " + write_duration(usable) + "`");
}

// EXP-6: an unknown outcome is remembered at least as long as a known one.
void check_unknown_retention(Reader& reader, TierDraft& tier)
{
    auto& settings = tier.tier;
    const auto fallback = settings.tombstone.value_or(core::Millis::max());
    if (!settings.unknown_retention && fallback < settings.retention) {
        settings.unknown_retention = settings.retention;
    }
    const bool shorter = settings.unknown_retention && tier.unknown_retention.valid &&
                         tier.retention.valid && *settings.unknown_retention < settings.retention;
    if (!shorter) return;
    auto& diagnostic =
        reader.error(codes::unknown_retention, tier.unknown_retention.place,
                     "tiers." + settings.name + ".unknown_retention",
                     "tiers." + settings.name + ".unknown_retention is shorter than the retention");
    diagnostic.caret = tier.unknown_retention.text;
    diagnostic.labels.push_back(
        {tier.retention.place, tier.retention.text + ": known outcomes live longer"});
}

}  // namespace

void check(Reader& reader, Draft& draft)
{
    check_upstream(reader, draft);
    check_admin(reader, draft);
    check_subject(reader, draft);
    check_key_headers(reader, draft);
    check_secret(reader, draft);
    check_store(reader, draft);
    for (auto& tier : draft.tiers) {
        check_budget(reader, tier);
        check_unknown_retention(reader, tier);
    }
    check_routes(reader, draft);
}

}  // namespace onceward
