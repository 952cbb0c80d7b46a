// Beast's implementation, compiled once.
#include <boost/beast/src.hpp>
