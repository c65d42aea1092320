#include <fmt/format.h>

#include <bochner/data/csv.hpp>
#include <bochner/train/output.hpp>
#include <bochner/train/storage/commit_file.hpp>
#include <cerrno>
#include <cstdio>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

void print_piece(std::string_view piece) {
  if (std::fwrite(piece.data(), 1, piece.size(), stdout) != piece.size())
    throw_io_error("write", "standard output", errno);
}

/// One array for each named column, or one for all.
NamedArrays parts_of(const NamedArray& array, const std::string& name) {
  if (array.columns.empty() || array.values.dimension() != 2) return {{name, array.values}};
  NamedArrays parts;
  const std::size_t rows = array.values.shape(0), width = array.values.shape(1);
  for (std::size_t column = 0; column < width; ++column) {
    auto values = xt::xarray<double>::from_shape({rows});
    for (std::size_t row = 0; row < rows; ++row)
      values.data()[row] = array.values.data()[row * width + column];
    parts.emplace_back(array.columns[column], std::move(values));
  }
  return parts;
}

}  // namespace

void flush_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    throw_io_error("write", "standard output", errno == 0 ? EIO : errno);
}

void write_output(const std::string& path, const std::function<void(const Sink&)>& write) {
  if (path == "-") {
    write(print_piece);
    return flush_output();
  }
  PosixStorage storage;
  commit_file(storage, path, [&](StoredFile& file) {
    write([&](std::string_view piece) { file.append(piece.data(), piece.size()); });
  });
}

void write_array(const std::string& path, const NamedArray& array, const ArrayFormat& format) {
  std::function<void(const Sink&)> write;
  if (path == "-" || path.ends_with(".csv"))
    write = [&](const Sink& sink) { write_csv(array, sink, format.delimiter); };
  else if (path.ends_with(".npy"))
    write = [&](const Sink& sink) { write_npy(array.values, sink, format.npz.type); };
  else if (path.ends_with(".npz"))
    write = [&](const Sink& sink) { write_npz(parts_of(array, format.array), sink, format.npz); };
  else
    throw std::invalid_argument(fmt::format(
        "{}: the name must end in .csv, .npy or .npz; - is CSV on standard output", path));
  write_output(path, write);
}

}  // namespace bochner::inline BOCHNER_PRECISION
