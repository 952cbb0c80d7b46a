// Requests and responses are values: copies are equal, every part counts.
#include "core/message.hpp"

#include "fields_of.hpp"

#include <doctest/doctest.h>

using namespace onceward::core;

TEST_CASE("two responses are equal when status, fields and body are")
{
    const Response answer{201, fields_of({{"Location", "/a"}}), std::string("\0\xFF", 2)};
    const Response copy = answer;
    CHECK(copy == answer);

    Response other = answer;
    other.status = 200;
    CHECK_FALSE(other == answer);
    other = answer;
    other.fields = fields_of({{"location", "/a"}});
    CHECK_FALSE(other == answer);
    other = answer;
    other.body.push_back('\0');
    CHECK_FALSE(other == answer);
}

TEST_CASE("a default response is nobody's answer")
{
    CHECK(Response{}.status == 0);
    CHECK(Response{}.fields.empty());
}
