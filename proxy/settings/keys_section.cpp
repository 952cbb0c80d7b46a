// `keys`: the key's header, whose key it is, and the secret.
#include "settings/sections.hpp"

#include <array>

namespace onceward {

namespace {

using enum Overridable;

void keep_header(Reader& reader, const Node& node, Draft& draft, std::string& target)
{
    if (!reader.header_name(node, target)) return;
    draft.keys.headers.push_back({node.place, target, true});
}

void read_aliases(Reader& reader, const Node& node, Draft& draft)
{
    for (const auto* item : reader.items(node)) {
        std::string alias;
        keep_header(reader, *item, draft, alias);
        if (!alias.empty()) draft.settings.policy.key.aliases.push_back(std::move(alias));
    }
}

void unbuilt_subject(Reader& reader, const Node& node, const std::string& form)
{
    auto& diagnostic =
        reader.error(codes::subject_unbuilt, node, "subject `" + form + "` is not built yet");
    diagnostic.caret = "choose `credential`, `credential:NAME`, `header:NAME` or `shared`";
}

bool is_unbuilt_form(std::string_view text)
{
    return text.starts_with("cookie:") || text.starts_with("jwt:") || text == "client_cert" ||
           text == "basic_user";
}

// `credential:NAME` and `header:NAME`.
void read_named_subject(Reader& reader, const Node& node, Draft& draft, std::string_view text)
{
    const auto colon = text.find(':');
    const auto form = text.substr(0, colon);
    const bool known =
        colon != std::string_view::npos && (form == "credential" || form == "header");
    const std::string name(known ? text.substr(colon + 1) : "");
    if (!known || !is_token(name)) {
        auto& diagnostic =
            reader.error(codes::subject_form, node, "`" + std::string(text) + "` is no subject");
        diagnostic.caret = "choose `credential`, `credential:NAME`, `header:NAME` or `shared`";
        return;
    }
    const auto kind =
        form == "header" ? core::SubjectKind::trusted_header : core::SubjectKind::credential;
    draft.keys.subject = core::SubjectRule{kind, name};
}

void read_subject(Reader& reader, const Node& node, Draft& draft)
{
    std::string text;
    draft.keys.subject_stated = true;
    draft.keys.subject_written.place = node.place;
    if (!reader.text(node, text)) return;
    draft.keys.subject_written.text = text;
    if (text == "none") {
        auto& diagnostic =
            reader.error(codes::subject_none, node, "`subject: none` does not exist");
        diagnostic.caret = "write `shared` if all callers are one party";
        diagnostic.notes.emplace_back(
            "under `shared` every caller can read the stored answer of any key it can guess");
        diagnostic.suggestion = "shared";
    } else if (text == "credential") {
        draft.keys.subject = core::SubjectRule{};
    } else if (text == "shared") {
        draft.keys.subject = core::SubjectRule{core::SubjectKind::shared, ""};
    } else if (is_unbuilt_form(text)) {
        unbuilt_subject(reader, node, text);
    } else {
        read_named_subject(reader, node, draft, text);
    }
}

void read_secret(Reader& reader, const Node& node, Draft& draft)
{
    draft.keys.secret = {node.place, "", true};
    reader.text(node, draft.settings.store.secret);
}

void read_secret_file(Reader& reader, const Node& node, Draft& draft)
{
    draft.keys.secret_file = {node.place, "", true};
    reader.text(node, draft.settings.store.secret_file);
}

// A setting that only `true` asks for something that is not built.
void read_unbuilt_switch(Reader& reader, const Node& node, std::string_view instead)
{
    bool wanted = false;
    if (reader.boolean(node, wanted) && wanted) reader.unbuilt(node.place, instead);
}

constexpr std::array keys_fields{
    Field<Draft>{"header",
                 [](Reader& r, const Node& n, Draft& d) {
                     d.keys.header_stated = true;
                     keep_header(r, n, d, d.settings.policy.key.header);
                 },
                 yes},
    Field<Draft>{"aliases", read_aliases},
    Field<Draft>{"max_length",
                 [](Reader& r, const Node& n, Draft& d) {
                     r.number(n, d.settings.policy.key.length_max, Bounds{1, 1'024});
                 },
                 yes},
    Field<Draft>{"subject", read_subject, yes},
    Field<Draft>{"secret", read_secret, yes},
    Field<Draft>{"secret_file", read_secret_file, yes},
    Field<Draft>{"store_raw",
                 [](Reader& r, const Node& n, Draft&) {
                     read_unbuilt_switch(r, n, "keys are kept as digests only");
                 },
                 yes},
    Field<Draft>{"reject_older_than_retention",
                 [](Reader& r, const Node& n, Draft&) {
                     read_unbuilt_switch(r, n,
                                         "a key that says it is too old runs like any new one");
                 },
                 yes},
    unbuilt_field<Draft>("jwt", "no subject is read from tokens"),
};
constexpr Section<Draft> keys_section{"keys", keys_fields};

}  // namespace

void read_keys(Reader& reader, const Node* node, Draft& draft)
{
    read_section(reader, node, keys_section, draft);
}

void add_keys_names(std::vector<SectionNames>& all)
{
    all.push_back(names_of(keys_section));
}

}  // namespace onceward
