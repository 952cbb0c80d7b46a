// Links of Markdown files.
#include "tidy/rules.hpp"

#include <filesystem>
#include <set>

namespace onceward::tidy {

namespace {

// The anchor that a heading gets on code hosts: lower case, blanks to hyphens, punctuation dropped.
std::string anchor_of(std::string_view heading)
{
    std::string anchor;
    for (char c : heading) {
        if (c >= 'A' && c <= 'Z') {
            anchor.push_back(static_cast<char>(c + ('a' - 'A')));
        } else if (c == ' ') {
            anchor.push_back('-');
        } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                   static_cast<unsigned char>(c) >= 0x80) {
            anchor.push_back(c);
        }
    }
    return anchor;
}

std::set<std::string> anchors_of(std::string_view text)
{
    std::set<std::string> anchors;
    bool fenced = false;
    for (const auto line : lines_of(text)) {
        if (line.starts_with("```")) fenced = !fenced;
        if (fenced || !line.starts_with('#')) continue;
        const auto start = line.find_first_not_of("# ");
        if (start != std::string_view::npos) anchors.insert(anchor_of(line.substr(start)));
    }
    return anchors;
}

// Prose alone: what stands between backquotes is no link.
std::string without_code(std::string_view line)
{
    std::string prose;
    bool code = false;
    for (char c : line) {
        if (c == '`') code = !code;
        prose.push_back(code ? ' ' : c);
    }
    return prose;
}

std::vector<std::string> links_of(std::string_view line)
{
    std::vector<std::string> links;
    const std::string prose = without_code(line);
    for (auto at = prose.find("]("); at != std::string::npos; at = prose.find("](", at + 1)) {
        const auto end = prose.find_first_of(") ", at + 2);
        if (end == std::string::npos) break;
        links.push_back(prose.substr(at + 2, end - at - 2));
    }
    return links;
}

bool leaves_the_tree(std::string_view link)
{
    return link.starts_with("http:") || link.starts_with("https:") || link.starts_with("mailto:");
}

const SourceFile* find_file(const Files& files, const std::string& path)
{
    for (const auto& file : files) {
        if (file.path == path) return &file;
    }
    return nullptr;
}

std::string check_link(const SourceFile& from, const std::string& link, const Files& markdown,
                       const std::function<bool(const std::string&)>& exists)
{
    const auto hash = link.find('#');
    const std::string path = link.substr(0, hash);
    const auto folder = std::filesystem::path(from.path).parent_path();
    std::string target = from.path;
    if (!path.empty()) target = (folder / path).lexically_normal().generic_string();
    if (!exists(target)) return "the link `" + link + "` leads nowhere";
    if (hash == std::string::npos) return {};
    const auto* page = find_file(markdown, target);
    if (page == nullptr || anchors_of(page->text).contains(link.substr(hash + 1))) return {};
    return "`" + target + "` has no heading for `" + link.substr(hash) + "`";
}

}  // namespace

Violations check_links(const Files& markdown, const std::function<bool(const std::string&)>& exists)
{
    Violations violations;
    for (const auto& file : markdown) {
        bool fenced = false;
        const auto lines = lines_of(file.text);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (lines[i].starts_with("```")) fenced = !fenced;
            if (fenced) continue;
            for (const auto& link : links_of(lines[i])) {
                if (leaves_the_tree(link)) continue;
                auto rule = check_link(file, link, markdown, exists);
                if (!rule.empty()) violations.push_back({file.path, i + 1, std::move(rule)});
            }
        }
    }
    return violations;
}

}  // namespace onceward::tidy
