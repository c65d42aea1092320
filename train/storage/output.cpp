#include <fmt/format.h>
#include <unistd.h>

#include <bochner/base/errors.hpp>
#include <bochner/base/xtensor.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/storage/storage.hpp>
#include <cerrno>
#include <cstdio>

namespace bochner {
namespace {

constexpr int most_links = 40;

Sink sink_of(std::FILE* stream, const Path& name) {
  return [stream, name](std::string_view piece) {
    if (std::fwrite(piece.data(), 1, piece.size(), stream) != piece.size())
      throw_io_error("write", name, errno);
  };
}

/// Whether the path exists and is not a regular file.
bool is_special(const Path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

void write_special(const Path& path, const std::function<void(const Sink&)>& write) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"),
                                                             std::fclose);
  if (!file) throw_io_error("open", path, errno);
  write(sink_of(file.get(), path));
  if (std::fflush(file.get()) != 0) throw_io_error("write", path, errno);
}

/// Resolves links at the end of the path, whether or not their target exists.
Path resolve_links(Path path) {
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(path, error); ++links) {
    if (links == most_links) throw_io_error("open", path, ELOOP);
    path = path.parent_path() / std::filesystem::read_symlink(path);
  }
  return path;
}

void require_numbers(const std::string& path, const NamedArray& array) {
  if (array.texts.empty()) return;
  const std::size_t column = array.texts.begin()->first;
  throw DataError(path, ": column ", column_name(array, column),
                  " holds texts, but NPY and NPZ hold only numbers; write a .csv file");
}

/// Splits an array into one per named column, or returns it whole.
NamedArrays parts_of(const NamedArray& array, const std::string& name) {
  if (array.columns.empty() || array.values.dimension() != 2) return {{name, array.values}};
  NamedArrays parts;
  for (std::size_t column = 0; column < array.values.shape(1); ++column)
    parts.emplace_back(array.columns[column], xt::view(array.values, xt::all(), column));
  return parts;
}

}  // namespace

void flush_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    throw_io_error("write", "standard output", errno == 0 ? EIO : errno);
}

void require_folder(const std::string& path) {
  if (path == "-") return;
  if (path.empty()) throw_io_error("open", "\"\"", ENOENT);
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) throw_io_error("open", path, EISDIR);
  if (is_special(path)) return;
  const Path folder = resolve_links(path).parent_path() / ".";
  if (::access(folder.c_str(), W_OK) != 0) throw_io_error("open", path, errno);
}

void write_output(const std::string& path, const std::function<void(const Sink&)>& write) {
  if (path == "-") {
    write(sink_of(stdout, "standard output"));
    return flush_output();
  }
  if (is_special(path)) return write_special(path, write);
  require_folder(path);
  PosixStorage storage;
  commit_file(storage, resolve_links(path), [&](StoredFile& file) {
    write([&](std::string_view piece) { file.append(piece.data(), piece.size()); });
  });
}

void write_array(const std::string& path, const NamedArray& array, const ArrayFormat& format) {
  std::function<void(const Sink&)> write;
  if (is_array_file(path)) require_numbers(path, array);
  if (path == "-" || ends_in(path, ".csv"))
    write = [&](const Sink& sink) { write_csv(array, sink, format.delimiter); };
  else if (ends_in(path, ".npy"))
    write = [&](const Sink& sink) { write_npy(array.values, sink, format.npz.type); };
  else if (ends_in(path, ".npz"))
    write = [&](const Sink& sink) { write_npz(parts_of(array, format.array), sink, format.npz); };
  else
    throw std::invalid_argument(fmt::format("{}: {}", path, writable_names));
  write_output(path, write);
}

void make_table_for(const std::string& path, NamedArray& array) {
  if (is_array_file(path) || array.values.dimension() < 3) return;
  const std::size_t n = array.values.shape()[0];
  array.values.reshape({n, n > 0 ? array.values.size() / n : 0});
}

}  // namespace bochner
