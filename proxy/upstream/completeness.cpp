// Judging the end of a body by its syntax.
#include "upstream/completeness.hpp"

#include <expat.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace onceward {

namespace {

bool is_whole_xml(std::string_view body)
{
    struct Free {
        void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
    };
    const std::unique_ptr<XML_ParserStruct, Free> parser(XML_ParserCreate(nullptr));
    if (!parser || body.size() > static_cast<std::size_t>(INT_MAX)) return false;
    return XML_Parse(parser.get(), body.data(), static_cast<int>(body.size()), XML_TRUE) ==
           XML_STATUS_OK;
}

}  // namespace

bool looks_complete(core::CompleteIf rule, std::string_view body)
{
    switch (rule) {
        case core::CompleteIf::json: return nlohmann::json::accept(body.begin(), body.end());
        case core::CompleteIf::xml: return is_whole_xml(body);
        case core::CompleteIf::any: return true;
    }
    return false;
}

}  // namespace onceward
