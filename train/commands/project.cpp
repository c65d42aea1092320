#include <bochner/base/errors.hpp>
#include <bochner/train/commands/project.hpp>
#include <bochner/train/storage/output.hpp>
#include <filesystem>

namespace bochner {

void write_project(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool is_new = !fs::exists(fs::symlink_status(folder, error));
  if (!is_new && !(fs::is_directory(folder, error) && fs::is_empty(folder, error)))
    throw std::invalid_argument(folder + ": already exists; give the name of a new folder");
  fs::create_directories(folder, error);
  if (error) throw IoError(folder + ": " + error.message());
  for (const ProjectFile& file : project_files()) {
    const std::string path = (fs::path(folder) / file.name).string();
    write_output(path, [&](const Sink& sink) { sink(file.text); });
    if (file.text.starts_with("#!")) fs::permissions(path, fs::perms(0111), fs::perm_options::add);
  }
}

}  // namespace bochner
