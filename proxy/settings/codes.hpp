// Every code that loading a configuration can report; stable, each explained in docs/errors.md.
#pragma once

#include <array>
#include <string_view>

namespace onceward::codes {

inline constexpr std::string_view syntax = "E001";
inline constexpr std::string_view unreadable_file = "E002";
inline constexpr std::string_view unsupported_yaml = "E003";
inline constexpr std::string_view several_documents = "E004";
inline constexpr std::string_view too_large = "E005";
inline constexpr std::string_view not_a_mapping = "E006";

inline constexpr std::string_view duplicate_key = "E101";
inline constexpr std::string_view unknown_key = "E102";
inline constexpr std::string_view misplaced_key = "E103";
inline constexpr std::string_view wrong_shape = "E104";
inline constexpr std::string_view required = "E105";
inline constexpr std::string_view version = "E106";
inline constexpr std::string_view name = "E107";
inline constexpr std::string_view lease = "E110";
inline constexpr std::string_view budget = "E111";
inline constexpr std::string_view unknown_tier = "E112";
inline constexpr std::string_view duplicate_route = "E113";
inline constexpr std::string_view unguardable_method = "E114";
inline constexpr std::string_view several_paths = "E115";
inline constexpr std::string_view path_regex = "E116";
inline constexpr std::string_view no_upstream = "E117";
inline constexpr std::string_view admin_not_loopback = "E118";
inline constexpr std::string_view unknown_retention = "E119";
inline constexpr std::string_view subject_required = "E120";
inline constexpr std::string_view subject_none = "E121";
inline constexpr std::string_view subject_unbuilt = "E122";
inline constexpr std::string_view subject_form = "E123";
inline constexpr std::string_view key_source = "E124";
inline constexpr std::string_view several_stores = "E125";
inline constexpr std::string_view several_secrets = "E126";
inline constexpr std::string_view key_header = "E127";
inline constexpr std::string_view memory_store = "E128";

inline constexpr std::string_view duration = "E201";
inline constexpr std::string_view size = "E202";
inline constexpr std::string_view boolean = "E203";
inline constexpr std::string_view number = "E204";
inline constexpr std::string_view word = "E205";
inline constexpr std::string_view range = "E206";
inline constexpr std::string_view url = "E207";
inline constexpr std::string_view upstream_tls = "E208";
inline constexpr std::string_view address = "E209";
inline constexpr std::string_view network = "E210";
inline constexpr std::string_view header_name = "E211";
inline constexpr std::string_view path = "E212";
inline constexpr std::string_view outcome = "E213";
inline constexpr std::string_view text = "E214";

inline constexpr std::string_view variable_unset = "E301";
inline constexpr std::string_view variable_form = "E302";
inline constexpr std::string_view secret = "E303";

inline constexpr std::string_view budget_unstated = "W01";
inline constexpr std::string_view route_never_met = "W06";
inline constexpr std::string_view nobody_trusted = "W11";
inline constexpr std::string_view unbuilt = "W90";
inline constexpr std::string_view observe_is_off = "W91";

inline constexpr std::array all{syntax,
                                unreadable_file,
                                unsupported_yaml,
                                several_documents,
                                too_large,
                                not_a_mapping,
                                duplicate_key,
                                unknown_key,
                                misplaced_key,
                                wrong_shape,
                                required,
                                version,
                                name,
                                lease,
                                budget,
                                unknown_tier,
                                duplicate_route,
                                unguardable_method,
                                several_paths,
                                path_regex,
                                no_upstream,
                                admin_not_loopback,
                                unknown_retention,
                                subject_required,
                                subject_none,
                                subject_unbuilt,
                                subject_form,
                                key_source,
                                several_stores,
                                several_secrets,
                                key_header,
                                memory_store,
                                duration,
                                size,
                                boolean,
                                number,
                                word,
                                range,
                                url,
                                upstream_tls,
                                address,
                                network,
                                header_name,
                                path,
                                outcome,
                                text,
                                variable_unset,
                                variable_form,
                                secret,
                                budget_unstated,
                                route_never_met,
                                nobody_trusted,
                                unbuilt,
                                observe_is_off};

}  // namespace onceward::codes
