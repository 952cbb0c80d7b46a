// Sections as tables of fields: what is allowed where, and how it is read.
#pragma once

#include "settings/codes.hpp"
#include "settings/reader.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace onceward {

enum class Overridable : std::uint8_t { no, yes };

// One setting. `read` is null for what is accepted but not built yet; `instead` then says what
// happens.
template <class Target>
struct Field {
    std::string_view name;
    void (*read)(Reader& reader, const Node& node, Target& target);
    Overridable overridable =
        Overridable::no;  // By ONCEWARD_SECTION__NAME; scalars of fixed sections only.
    std::string_view instead = {};
};

// A setting that is accepted with W90.
template <class Target>
constexpr Field<Target> unbuilt_field(std::string_view name, std::string_view instead)
{
    return {name, nullptr, Overridable::no, instead};
}

template <class Target>
struct Section {
    std::string_view where;  // "tiers.<name>", as shown to the operator; empty: the top level.
    std::span<const Field<Target>> fields;
};

// Which names exist where, over all sections: tells where a misplaced key belongs.
struct SectionNames {
    std::string_view where;
    std::vector<std::string_view> names;
};
const std::vector<SectionNames>& all_sections();

// E103 when the key belongs elsewhere, else E102 with the names allowed here.
void report_unknown(Reader& reader, const Entry& entry, const SectionNames& section);

template <class Target>
SectionNames names_of(const Section<Target>& section)
{
    SectionNames names{section.where, {}};
    for (const auto& field : section.fields)
        names.names.push_back(field.name);
    return names;
}

// Settings of the environment win over the file's, which is not even looked at then.
template <class Target>
void read_overrides(Reader& reader, const Section<Target>& section, Target& target,
                    std::vector<std::string_view>& overridden)
{
    for (const auto& field : section.fields) {
        if (field.overridable == Overridable::no) continue;
        const auto node = reader.overriding(field.name);
        if (!node) continue;
        const Reader::Step step(reader, std::string(field.name));
        field.read(reader, *node, target);
        overridden.push_back(field.name);
    }
}

// Reads every field of a mapping. `node` may be null: the section is not in the file.
template <class Target>
void read_section(Reader& reader, const Node* node, const Section<Target>& section, Target& target)
{
    std::vector<std::string_view> overridden;
    read_overrides(reader, section, target, overridden);
    if (node == nullptr || !reader.is_mapping(*node)) return;
    for (const auto& entry : node->entries) {
        const auto field =
            std::find_if(section.fields.begin(), section.fields.end(),
                         [&entry](const Field<Target>& known) { return known.name == entry.key; });
        if (field == section.fields.end()) {
            report_unknown(reader, entry, names_of(section));
            continue;
        }
        if (std::find(overridden.begin(), overridden.end(), field->name) != overridden.end())
            continue;
        const Reader::Step step(reader, entry.key);
        if (field->read == nullptr) {
            reader.unbuilt(entry.place, field->instead);
        } else {
            field->read(reader, entry.value, target);
        }
    }
}

}  // namespace onceward
