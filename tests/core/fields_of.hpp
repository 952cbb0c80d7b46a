// Fields from a list, so that a test can write a head in one line.
#pragma once

#include "core/fields.hpp"

#include <initializer_list>
#include <string_view>

namespace onceward::core {

inline Fields fields_of(std::initializer_list<Field> list)
{
    Fields fields;
    for (const Field& field : list)
        fields.add(field.name, field.value);
    return fields;
}

}  // namespace onceward::core
