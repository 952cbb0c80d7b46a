// From YAML text to settings, or to every mistake in it (decision 28).
#pragma once

#include "settings/settings.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onceward {

enum class Severity : std::uint8_t { error, warning };

// A place in the file: 1-based line and column; columns count bytes. Line 0: no place (command
// line).
struct Place {
    int line = 0;
    int column = 0;
    int end_column = 0;  // One past the last column to underline.
};

// A further place that explains the first: "--- 30s: a slow but successful call would be declared
// unknown".
struct Label {
    Place place;
    std::string text;
};

struct Diagnostic {
    Severity severity = Severity::error;
    std::string code;     // E102, W01, ...: stable, listed in docs/errors.md.
    std::string message;  // One line, no full stop.
    std::string path;     // tiers.payments.retenton
    Place place;
    std::string caret;  // Printed behind the carets.
    std::vector<Label> labels;
    std::vector<std::string> notes;  // Printed behind `=`.
    std::string suggestion;          // The name meant, when there is a likely one.
    std::string aside;               // Printed behind the place, on its line.
};

// Looks up one environment variable; absent when it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;
Environment process_environment();

struct LoadOptions {
    // `check`: an unset variable is a warning, files of secrets are not opened, nothing is
    // connected.
    bool offline = false;
};

struct Loaded {
    std::optional<Settings> settings;     // Absent when there is any error.
    std::vector<Diagnostic> diagnostics;  // In file order, errors and warnings; at most 20 errors.
    std::string source;                   // The text, for rendering.

    bool ok() const { return settings.has_value(); }
};

// `name` is only printed. Never throws on bad input.
Loaded load_text(std::string name, std::string text, const Environment& environment,
                 const LoadOptions& options);

// E002 when the file cannot be read.
Loaded load_file(const std::string& path, const Environment& environment,
                 const LoadOptions& options);

// `run --upstream URL --subject S` without a file (decision 3): checked by the same rules.
struct QuickStart {
    std::string upstream;
    std::string listen;   // Empty: the default.
    std::string subject;  // Empty: E120.
};
Loaded load_quick_start(const QuickStart& quick_start, const Environment& environment);

// The YAML that says the same as a quick start; printed in the banner.
std::string equivalent_yaml(const QuickStart& quick_start, const std::string& sqlite_path);

// Rust-style text with the source line and carets. `file` as given to load.
std::string render_text(const std::string& file, std::string_view source,
                        const std::vector<Diagnostic>& diagnostics);
// One JSON array of
// {"code","severity","file","line","column","end_column","path","message","suggestion"}.
std::string render_json(const std::string& file, const std::vector<Diagnostic>& diagnostics);

}  // namespace onceward
