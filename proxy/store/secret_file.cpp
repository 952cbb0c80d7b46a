// Secrets in files.
#include "store/secret_file.hpp"

#include "store/durable_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

namespace onceward {

namespace {

constexpr std::size_t secret_file_max = 4096;

// Text, so that it can be moved into `keys.secret` or an environment variable unchanged.
std::string printable(const core::Secret& secret)
{
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const char byte : secret.bytes()) {
        const auto value = static_cast<unsigned char>(byte);
        text.push_back(digits[value >> 4]);
        text.push_back(digits[value & 0xF]);
    }
    return text;
}

OpenError cannot(const char* what, const std::string& path)
{
    return {std::string("cannot ") + what + " the secret `" + path + "`: " + std::strerror(errno),
            "without it no key can be told from another; check the file's owner and its directory",
            ""};
}

}  // namespace

SecretOrError secret_from_text(std::string text, const std::string& source)
{
    if (text.ends_with('\n')) text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
    auto secret = core::Secret::from_bytes(text);
    if (secret) return *secret;
    return OpenError{"the secret from " + source + " has fewer than 16 bytes",
                     "use at least 32 random ones, for example from `openssl rand -hex 32`", ""};
}

SecretOrError read_secret_file(const std::string& path)
{
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) return cannot("read", path);
    std::string text(secret_file_max + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad()) return cannot("read", path);
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > secret_file_max) {
        return OpenError{"`" + path + "` is too long for a secret", "it must be at most 4 KiB", ""};
    }
    return secret_from_text(std::move(text), "`" + path + "`");
}

SecretOrError create_secret_file(const std::string& path)
{
    const auto text = printable(core::Secret::random());
    if (!write_durably(path, text + '\n')) return cannot("create", path);
    return secret_from_text(text, "`" + path + "`");
}

}  // namespace onceward
