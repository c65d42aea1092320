#pragma once
/// Options of commands that read files of numbers, and their tables.

#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/commands/common_options.hpp>

namespace bochner {

struct DataOptions {
  std::vector<std::string> files;
  std::string columns;
  ReadOptions reading;
  std::size_t rows = 5;
  bool json = false;
};
/// Adds the options for reading files. The default of --missing depends on the command.
void add_reading(const Command& command, DataOptions& options, const std::string& missing);
/// Throws std::invalid_argument if a file is a pipe.
ReadOptions read_options(const DataOptions& options);

using TextTable = std::vector<std::vector<std::string>>;
/// Prints aligned columns: the first flush left, the others flush right.
void print_table(TextTable table);

}  // namespace bochner
