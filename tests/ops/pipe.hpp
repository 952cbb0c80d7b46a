// A pipe as a log's reader.
#pragma once

#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

namespace onceward {

class Pipe {
public:
    Pipe()
    {
        if (::pipe(ends_) != 0) throw std::runtime_error("no pipe");
    }
    ~Pipe()
    {
        close_reader();
        close_writer();
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    int writer() const { return ends_[1]; }
    void close_reader() { close(ends_[0]); }
    void close_writer() { close(ends_[1]); }

    // Everything up to the end of the stream.
    std::string read_all()
    {
        std::string text;
        char buffer[4'096];
        for (;;) {
            const auto size = ::read(ends_[0], buffer, sizeof buffer);
            if (size <= 0) return text;
            text.append(buffer, static_cast<std::size_t>(size));
        }
    }

private:
    static void close(int& end)
    {
        if (end >= 0) ::close(end);
        end = -1;
    }
    int ends_[2] = {-1, -1};
};

inline std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines;
    std::size_t start = 0;
    for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
        lines.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return lines;
}

}  // namespace onceward
