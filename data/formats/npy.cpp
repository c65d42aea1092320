#include <algorithm>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/input.hpp>
#include <bochner/data/files/text.hpp>
#include <bochner/data/formats/npy.hpp>
#include <bochner/data/formats/with_type.hpp>
#include <cmath>
#include <limits>

namespace bochner {
namespace {

template <class Stored>
bool fits(double number) {
  if constexpr (std::floating_point<Stored>)
    return !std::isfinite(number) || std::abs(number) <= std::numeric_limits<Stored>::max();
  const double above = std::ldexp(1.0, std::numeric_limits<Stored>::digits);
  const double lowest = std::signed_integral<Stored> ? -above : 0;
  return number >= lowest && number < above && number == std::trunc(number);
}

std::vector<std::size_t> shape_of(const xt::xarray<double>& values) {
  return {values.shape().begin(), values.shape().end()};
}

}  // namespace

StoredArray parse_npy(ByteSpan file, const std::string& name) {
  return {parse_npy_header(file, name), file, name};
}

xt::xarray<double> read_npy(const std::filesystem::path& path) {
  const Input input(path);
  const StoredArray array = parse_npy(input.bytes(), input.name());
  const auto fail = [&](const std::string& what) {
    throw DataError(input.name() + ": " + what + "; save it with numpy.save(FILE, matrix)");
  };
  if (array.shape().size() != 2)
    fail("is of shape " + shape_text(array.shape()) + ", not a matrix");
  if (array.size() == 0) fail("is empty");
  xt::xarray<double> matrix = array.values();
  for (std::size_t i = 0; i < matrix.size(); ++i)
    if (!(std::abs(matrix.data()[i]) <= double(std::numeric_limits<float>::max())))
      fail("row " + std::to_string(i / matrix.shape(1)) + " holds a number that is not finite");
  return matrix;
}

void write_npy(const xt::xarray<double>& values, const Sink& sink, const ElementType& type) {
  sink(npy_header_bytes(type, shape_of(values)));
  std::string piece;
  const auto append = [&](double number, auto zero) {
    using Stored = decltype(zero);
    if (!fits<Stored>(number))
      throw DataError("cannot write " + format_number(number) + " as " + to_string(type) +
                      "; choose a type that holds it");
    const auto stored = Stored(number);
    piece.append(reinterpret_cast<const char*>(&stored), sizeof(Stored));
  };
  with_type(type, [&](auto zero) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      append(values.data()[i], zero);
      if (piece.size() < piece_size) continue;
      sink(piece);
      piece.clear();
    }
  });
  sink(piece);
}

}  // namespace bochner
