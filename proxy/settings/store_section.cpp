// `store`: where the records live.
#include "settings/sections.hpp"

#include <array>

namespace onceward {

namespace {

using enum Overridable;

void read_sqlite(Reader& reader, const Node& node, Draft& draft)
{
    std::string text;
    draft.sqlite.place = node.place;
    draft.sqlite.valid = true;  // Stated; a mistake in it is already an error.
    if (!reader.text(node, text)) return;
    if (text == ":memory:" || text.starts_with("file:")) {
        auto& diagnostic =
            reader.error(codes::memory_store, node, reader.path() + " must be the path of a file");
        diagnostic.caret = "records must outlive the process";
        return;
    }
    draft.settings.store.sqlite = std::move(text);
}

void read_postgres(Reader& reader, const Node& node, Draft& draft)
{
    std::string text;
    draft.postgres.place = node.place;
    draft.postgres.valid = true;
    if (!reader.text(node, text)) {
        // An unset variable under `check`: the store is PostgreSQL all the same.
        draft.settings.store.postgres = "";
    } else {
        draft.settings.store.postgres = std::move(text);
    }
    reader.unbuilt(node.place,
                   "`run` refuses to start with it; the embedded store is `sqlite: PATH`", true);
}

void read_redis(Reader& reader, const Node& node, Draft& draft)
{
    std::string text;
    if (reader.text(node, text)) draft.settings.store.redis = std::move(text);
    reader.unbuilt(node.place, "every duplicate is answered by the store itself");
}

constexpr std::array store_fields{
    Field<Draft>{"sqlite", read_sqlite, yes},
    Field<Draft>{"postgres", read_postgres, yes},
    Field<Draft>{"redis", read_redis, yes},
    Field<Draft>{
        "single_node",
        [](Reader& r, const Node& n, Draft& d) { r.boolean(n, d.settings.store.single_node); },
        yes},
    Field<Draft>{
        "ephemeral",
        [](Reader& r, const Node& n, Draft& d) { r.boolean(n, d.settings.store.ephemeral); }, yes},
    unbuilt_field<Draft>("capacity", "nothing is forecast"),
};
constexpr Section<Draft> store_section{"store", store_fields};

}  // namespace

void read_store(Reader& reader, const Node* node, Draft& draft)
{
    read_section(reader, node, store_section, draft);
}

void add_store_names(std::vector<SectionNames>& all)
{
    all.push_back(names_of(store_section));
}

}  // namespace onceward
