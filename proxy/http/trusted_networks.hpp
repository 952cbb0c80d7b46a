// The proxies in front of us whose word about the caller we take.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include <string>
#include <vector>

namespace onceward {

class TrustedNetworks {
public:
    // `address` is an IPv4 or IPv6 literal; false, and nothing added, when it or the prefix is not
    // valid.
    bool add(const std::string& address, int prefix);

    // An IPv4 address that arrives mapped into IPv6 counts as the IPv4 address it is.
    bool contains(const boost::asio::ip::address& address) const;

private:
    std::vector<boost::asio::ip::network_v4> v4_;
    std::vector<boost::asio::ip::network_v6> v6_;
};

}  // namespace onceward
