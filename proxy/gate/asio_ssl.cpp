// Asio's TLS implementation, compiled once.
#include <boost/asio/ssl/impl/src.hpp>
