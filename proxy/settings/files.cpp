// Reading small files whole.
#include "settings/files.hpp"

#include <fstream>

namespace onceward {

std::optional<std::string> read_small_file(const std::string& path, std::size_t bytes_max)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::string text(bytes_max + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad() || (file.fail() && !file.eof())) return std::nullopt;
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > bytes_max) return std::nullopt;
    return text;
}

}  // namespace onceward
