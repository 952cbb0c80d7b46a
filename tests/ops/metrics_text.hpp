// A strict reader of the Prometheus text format: what it takes, Prometheus takes.
#pragma once

#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace onceward {

class MetricsText {
public:
    // Throws std::runtime_error with the offending line.
    explicit MetricsText(const std::string& text)
    {
        if (text.empty() || text.back() != '\n') throw std::runtime_error("no line end at the end");
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            line_ = line;
            line.starts_with("#") ? comment(line) : sample(line);
        }
    }

    std::map<std::string, double> values;                 // By name{labels}, labels as written.
    std::map<std::string, std::string> types;             // By family.
    std::map<std::string, std::set<std::string>> labels;  // Every value of every label name.

    double operator[](const std::string& series) const
    {
        const auto found = values.find(series);
        if (found == values.end()) throw std::runtime_error("no series " + series);
        return found->second;
    }

private:
    [[noreturn]] void fail(const std::string& why) const
    {
        throw std::runtime_error(why + ": " + line_);
    }

    void comment(const std::string& line)
    {
        std::istringstream words(line);
        std::string hash, kind, name, rest;
        words >> hash >> kind >> name >> rest;
        if (kind == "HELP") {
            if (rest.empty()) fail("help without text");
            return;
        }
        if (kind != "TYPE") fail("unknown comment");
        if (rest != "counter" && rest != "gauge" && rest != "histogram") fail("unknown type");
        if (!types.emplace(name, rest).second) fail("family twice");
    }

    std::string family_of(const std::string& name) const
    {
        for (const std::string suffix : {"", "_bucket", "_sum", "_count"}) {
            if (!name.ends_with(suffix)) continue;
            const auto base = name.substr(0, name.size() - suffix.size());
            const auto type = types.find(base);
            if (type != types.end() && (suffix.empty() != (type->second == "histogram")))
                return base;
        }
        fail("no type before");
    }

    void sample(const std::string& line)
    {
        std::size_t at = 0;
        while (at < line.size() &&
               (std::isalnum(static_cast<unsigned char>(line[at])) || line[at] == '_'))
            ++at;
        const auto name = line.substr(0, at);
        if (name.empty()) fail("no name");
        family_of(name);
        if (at < line.size() && line[at] == '{') at = read_labels(line, at + 1);
        if (at >= line.size() || line[at] != ' ') fail("no blank before the value");
        std::size_t used = 0;
        const auto number = line.substr(at + 1);
        const double value = std::stod(number, &used);
        if (used != number.size()) fail("not a number");
        if (!values.emplace(line.substr(0, at), value).second) fail("series twice");
    }

    std::size_t read_labels(const std::string& line, std::size_t at)
    {
        for (;;) {
            const auto equals = line.find("=\"", at);
            if (equals == std::string::npos) fail("no label");
            const auto name = line.substr(at, equals - at);
            std::string value;
            at = equals + 2;
            while (at < line.size() && line[at] != '"') {
                if (line[at] == '\\') {
                    ++at;
                    if (at == line.size() ||
                        std::string("\\\"n").find(line[at]) == std::string::npos) {
                        fail("unknown escape");
                    }
                    value.push_back(line[at] == 'n' ? '\n' : line[at]);
                } else {
                    value.push_back(line[at]);
                }
                ++at;
            }
            labels[name].insert(value);
            if (++at >= line.size()) fail("labels do not end");
            if (line[at] == '}') return at + 1;
            if (line[at++] != ',') fail("no comma between labels");
        }
    }

    std::string line_;
};

}  // namespace onceward
