#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/data_tables.hpp>

namespace bochner {

void for_each_table(
    const Config& config,
    const std::function<void(const std::filesystem::path& file, NamedArray& table)>& take) {
  for (const auto& file :
       expand_files(config.text_list("data.files"), std::filesystem::current_path())) {
    NamedArray table = read_array(file, table_options(config));
    try {
      take(file, table);
    } catch (const DataError& error) {
      throw DataError(file.string() + ": " + error.what());
    }
  }
}

}  // namespace bochner
