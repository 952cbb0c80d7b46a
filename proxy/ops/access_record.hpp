// The access log's record lives with the ports, where the sessions can see it.
#pragma once

#include "ports/access_record.hpp"
