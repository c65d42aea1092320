#pragma once
/// `bochner init project`: a CMake project for parts of a researcher's own.

#include <span>
#include <string>
#include <string_view>

namespace bochner {

/// File of examples/project, embedded in the program.
struct ProjectFile {
  std::string_view name, text;
};
std::span<const ProjectFile> project_files();

/// Writes the project to `folder`, which it creates. Throws std::invalid_argument if the folder has
/// files, IoError if it cannot be written.
void write_project(const std::string& folder);

}  // namespace bochner
