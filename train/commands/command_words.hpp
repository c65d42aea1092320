#pragma once
/// The words of the command line: which are wrong, and which may come next.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace bochner {

/// What is wrong with the words typed. Of a command that does not exist, CLI11 only says that one
/// is missing.
std::string usage_problem(const CLI::App& root, int argc, char** argv, const CLI::Error& error);

/// What may stand in place of the last word of a line, after a blank the empty one: commands,
/// options where it begins with a dash, or what follows --set.
std::vector<std::string> completions(const CLI::App& root, const std::string& line);

}  // namespace bochner
