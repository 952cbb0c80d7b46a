// The top level of the file, and the list of all sections.
#include "settings/sections.hpp"

#include <array>

namespace onceward {

namespace {

void read_version(Reader& reader, const Node& node, Draft&)
{
    std::string text;
    if (!reader.text(node, text) || text == "1") return;
    reader.error(codes::version, node, "version `" + text + "` of the configuration is not known")
        .caret = "this release reads version 1";
}

constexpr std::array root_fields{
    Field<Draft>{"version", read_version},
    Field<Draft>{"server", [](Reader& r, const Node& n, Draft& d) { read_server(r, &n, d); }},
    Field<Draft>{"observability",
                 [](Reader& r, const Node& n, Draft& d) { read_observability(r, &n, d); }},
    Field<Draft>{"admin", [](Reader& r, const Node& n, Draft& d) { read_admin(r, &n, d); }},
    Field<Draft>{"store", [](Reader& r, const Node& n, Draft& d) { read_store(r, &n, d); }},
    Field<Draft>{"keys", [](Reader& r, const Node& n, Draft& d) { read_keys(r, &n, d); }},
    Field<Draft>{"problem", [](Reader& r, const Node& n, Draft& d) { read_problem(r, &n, d); }},
    unbuilt_field<Draft>("misuse",
                         "nobody is told about clients that make a new key for each retry"),
    Field<Draft>{"tiers", read_tiers},
    Field<Draft>{"routes", read_routes},
};
constexpr Section<Draft> root_section{"", root_fields};

struct FixedSection {
    std::string_view name;
    void (*read)(Reader& reader, const Node* node, Draft& draft);
};

// Sections into which the environment reaches even when the file does not have them.
constexpr std::array fixed_sections{
    FixedSection{"server", read_server}, FixedSection{"observability", read_observability},
    FixedSection{"admin", read_admin},   FixedSection{"store", read_store},
    FixedSection{"keys", read_keys},     FixedSection{"problem", read_problem},
};

}  // namespace

void read_root(Reader& reader, const Node& root, Draft& draft)
{
    if (const auto* server = find_entry(root, "server")) draft.server_place = server->place;
    draft.keys.place = {1, 1, 2};
    if (const auto* keys = find_entry(root, "keys")) draft.keys.place = keys->place;
    read_section(reader, &root, root_section, draft);
    for (const auto& section : fixed_sections) {
        if (find_entry(root, section.name) != nullptr) continue;
        const Reader::Step step(reader, std::string(section.name));
        section.read(reader, nullptr, draft);
    }
}

void add_root_names(std::vector<SectionNames>& all)
{
    all.push_back(names_of(root_section));
}

const std::vector<SectionNames>& all_sections()
{
    static const std::vector<SectionNames> sections = [] {
        std::vector<SectionNames> all;
        add_root_names(all);
        add_server_names(all);
        add_listener_names(all);
        add_store_names(all);
        add_keys_names(all);
        add_tier_names(all);
        add_route_names(all);
        add_outcome_names(all);
        return all;
    }();
    return sections;
}

}  // namespace onceward
