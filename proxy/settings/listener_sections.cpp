// `observability`, `admin` and `problem`: what operators and clients see beside the traffic.
#include "settings/sections.hpp"

#include <array>

namespace onceward {

namespace {

using enum Overridable;

// An address, or `off`.
bool read_listener(Reader& reader, const Node& node, std::optional<ListenAddress>& target)
{
    std::string text;
    if (!reader.text(node, text)) return false;
    if (text == "off") {
        target.reset();
        return true;
    }
    ListenAddress address;
    if (!reader.listen(node, address)) return false;
    target = address;
    return true;
}

constexpr std::array log_fields{
    Field<Draft>{"format",
                 [](Reader& r, const Node& n, Draft& d) {
                     r.word<bool>(n, d.settings.log.json, {{"json", true}, {"text", false}});
                 },
                 yes},
    Field<Draft>{"level",
                 [](Reader& r, const Node& n, Draft& d) {
                     r.word<std::string>(n, d.settings.log.level,
                                         {{"trace", "trace"},
                                          {"debug", "debug"},
                                          {"info", "info"},
                                          {"warn", "warn"},
                                          {"error", "error"},
                                          {"off", "off"}});
                 },
                 yes},
    Field<Draft>{"keys",
                 [](Reader& r, const Node& n, Draft& d) {
                     r.word<bool>(n, d.settings.log.full_keys, {{"hashed", false}, {"full", true}});
                 },
                 yes},
    unbuilt_field<Draft>("sample", "every request is logged"),
};
constexpr Section<Draft> log_section{"observability.log", log_fields};

constexpr std::array observability_fields{
    Field<Draft>{"listen",
                 [](Reader& r, const Node& n, Draft& d) {
                     read_listener(r, n, d.settings.observability.listen);
                 },
                 yes},
    Field<Draft>{"log",
                 [](Reader& r, const Node& n, Draft& d) { read_section(r, &n, log_section, d); }},
};
constexpr Section<Draft> observability_section{"observability", observability_fields};

constexpr std::array admin_fields{
    Field<Draft>{"listen",
                 [](Reader& r, const Node& n, Draft& d) {
                     d.admin_listen.valid = read_listener(r, n, d.settings.admin.listen);
                     d.admin_listen.place = n.place;
                     d.admin_listen.text = n.text;
                 },
                 yes},
    unbuilt_field<Draft>("tokens", "everybody on this machine may use the admin listener"),
};
constexpr Section<Draft> admin_section{"admin", admin_fields};

// It is printed into a JSON string and a header: a URI without anything that could end either.
void read_problem_base(Reader& reader, const Node& node, Draft& draft)
{
    std::string text;
    if (!reader.text(node, text)) return;
    const bool uri = text.find(':') != std::string::npos &&
                     text.find_first_of(" \"<>\\^`{|}") == std::string::npos;
    if (!uri) {
        reader.misread(node, {codes::text, "is not a URI: `" + text + "`",
                              "the code is appended to it: https://docs.example.com/problems/"});
        return;
    }
    draft.settings.server.problem_base = std::move(text);
}

constexpr std::array problem_fields{
    Field<Draft>{"base", read_problem_base, yes},
    unbuilt_field<Draft>("templates", "the built-in sentences are used"),
};
constexpr Section<Draft> problem_section{"problem", problem_fields};

}  // namespace

void read_observability(Reader& reader, const Node* node, Draft& draft)
{
    read_section(reader, node, observability_section, draft);
    const bool log_in_file =
        node != nullptr && node->kind == NodeKind::mapping && find_entry(*node, "log") != nullptr;
    if (log_in_file) return;
    const Reader::Step log(reader, "log");
    read_section(reader, nullptr, log_section, draft);
}

void read_admin(Reader& reader, const Node* node, Draft& draft)
{
    read_section(reader, node, admin_section, draft);
}

void read_problem(Reader& reader, const Node* node, Draft& draft)
{
    read_section(reader, node, problem_section, draft);
}

void add_listener_names(std::vector<SectionNames>& all)
{
    all.push_back(names_of(observability_section));
    all.push_back(names_of(log_section));
    all.push_back(names_of(admin_section));
    all.push_back(names_of(problem_section));
}

}  // namespace onceward
