// Keys that no table knows.
#include "settings/section.hpp"

#include "settings/words.hpp"

namespace onceward {

namespace {

// "`tiers.<name>` or `routes[]`": every section that has this name.
std::string homes_of(std::string_view name)
{
    std::string homes;
    for (const auto& section : all_sections()) {
        if (std::find(section.names.begin(), section.names.end(), name) == section.names.end())
            continue;
        if (!homes.empty()) homes += " or ";
        homes += section.where.empty() ? "the top level" : "`" + std::string(section.where) + "`";
    }
    return homes;
}

std::string allowed_note(const SectionNames& section)
{
    std::string note = "allowed here:";
    for (const auto name : section.names) {
        note += note.ends_with(':') ? " " : ", ";
        note += name;
    }
    return note;
}

}  // namespace

void report_unknown(Reader& reader, const Entry& entry, const SectionNames& section)
{
    const auto where = reader.path();
    const Reader::Step step(reader, entry.key);
    const auto homes = homes_of(entry.key);
    if (!homes.empty()) {
        const std::string here = where.empty() ? "at the top level" : "under `" + where + "`";
        auto& diagnostic = reader.error(
            codes::misplaced_key, entry.place, reader.path(),
            "`" + entry.key + "` is not allowed " + here + "; it belongs under " + homes);
        diagnostic.caret = "misplaced";
        return;
    }
    auto& diagnostic = reader.error(
        codes::unknown_key, entry.place, reader.path(),
        "unknown key `" + entry.key + "` " + (where.empty() ? "at the top level" : "in " + where));
    diagnostic.caret = "not a setting";
    if (const auto meant = nearest(entry.key, section.names)) {
        diagnostic.suggestion = *meant;
        diagnostic.caret = "did you mean `" + std::string(*meant) + "`?";
    }
    diagnostic.notes.push_back(allowed_note(section));
}

}  // namespace onceward
