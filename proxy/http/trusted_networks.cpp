// Matching peers against networks.
#include "http/trusted_networks.hpp"

#include <algorithm>

namespace onceward {

namespace ip = boost::asio::ip;

namespace {

ip::address unmapped(const ip::address& address)
{
    if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
    return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

// IPv6 networks are compared bit by bit: network_v6::hosts() would walk them.
bool in_network(const ip::address_v6& address, const ip::network_v6& network)
{
    const auto bytes = address.to_bytes();
    const auto base = network.network().to_bytes();
    const int prefix = network.prefix_length();
    for (int bit = 0; bit < prefix; bit += 8) {
        const auto at = static_cast<std::size_t>(bit / 8);
        const int left = std::min(8, prefix - bit);
        const int mask = 0xFF << (8 - left) & 0xFF;
        if ((bytes[at] & mask) != (base[at] & mask)) return false;
    }
    return true;
}

}  // namespace

bool TrustedNetworks::add(const std::string& address, int prefix)
{
    boost::system::error_code error;
    const auto parsed = ip::make_address(address, error);
    if (error || prefix < 0 || prefix > (parsed.is_v4() ? 32 : 128)) return false;
    if (parsed.is_v4()) {
        v4_.push_back(
            ip::make_network_v4(parsed.to_v4(), static_cast<unsigned short>(prefix)).canonical());
    } else {
        v6_.push_back(
            ip::make_network_v6(parsed.to_v6(), static_cast<unsigned short>(prefix)).canonical());
    }
    return true;
}

bool TrustedNetworks::contains(const ip::address& address) const
{
    const auto peer = unmapped(address);
    if (peer.is_v6()) {
        return std::any_of(v6_.begin(), v6_.end(),
                           [&](const auto& network) { return in_network(peer.to_v6(), network); });
    }
    return std::any_of(v4_.begin(), v4_.end(), [&](const auto& network) {
        const auto mask = network.netmask().to_uint();
        return (peer.to_v4().to_uint() & mask) == (network.network().to_uint() & mask);
    });
}

}  // namespace onceward
