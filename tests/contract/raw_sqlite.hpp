// A look into the embedded store's file past the store, and changes behind its back.
#pragma once

#include "core/record.hpp"

#include <map>
#include <string>

namespace onceward::test {

// Runs statements on a closed store's file; requires that they work.
void change_behind_its_back(const std::string& path, const std::string& sql);

// The first column of the first row, as text.
std::string ask_file(const std::string& path, const std::string& sql);

// Every row of a closed store's file. Tiers count from 0 in the order in which they were first
// seen.
std::map<core::Digest, core::Row> rows_in_file(const std::string& path);

}  // namespace onceward::test
