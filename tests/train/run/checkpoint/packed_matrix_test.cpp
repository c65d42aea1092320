#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/train/run/checkpoint/checkpoint_file.hpp>
#include <bochner/train/run/checkpoint/packed_matrix.hpp>
#include <cmath>

#include "faults/crashing_storage.hpp"

namespace bochner {
namespace packed_matrix_test {

Tensor numbers(const Shape& shape, std::uint64_t stream) {
  const RandomFunction random{7, Purpose::test, stream};
  Tensor w = uninitialized(shape);
  for (std::size_t i = 0; i < w.size(); ++i) w.data()[i] = real(random.normal(i));
  return w;
}

/// About half of the entries are 0.
Tensor sparse_numbers(const Shape& shape) {
  Tensor w = numbers(shape, 1);
  for (real& value : w) value = value > 0 ? value : real(0);
  return w;
}

Tensor unpacked(const std::string& bytes, const Shape& shape) {
  Tensor w = uninitialized(shape);
  unpack_matrix(bytes, w);
  return w;
}

std::string problem_of(const std::string& bytes, const Shape& shape) {
  try {
    unpacked(bytes, shape);
  } catch (const DataError& error) {
    return error.what();
  }
  return "none";
}

constexpr std::size_t header = 8;

TEST(PackedMatrix, FloatsComeBackAsTheyWere) {
  const Tensor w = numbers({7, 5}, 1), zeros_inside = sparse_numbers({9, 4});
  EXPECT_EQ(unpacked(pack_matrix(w, {}), {7, 5}), w);
  EXPECT_EQ(pack_matrix(w, {}).size(), header + 35 * 4);
  EXPECT_EQ(unpacked(pack_matrix(zeros_inside, {32, true}), {9, 4}), zeros_inside);
}

TEST(PackedMatrix, MultiplesErrByHalfAUnit) {
  const Tensor w = numbers({11, 13}, 2);
  for (int bits = 2; bits <= 16; ++bits) {
    const std::string bytes = pack_matrix(w, {bits});
    EXPECT_EQ(bytes.size(), header + 11 * 4 + (143 * std::size_t(bits) + 7) / 8);
    const Tensor again = unpacked(bytes, {11, 13});
    for (std::size_t r = 0; r < 11; ++r) {
      double largest = 0;
      for (std::size_t j = 0; j < 13; ++j) largest = std::max(largest, std::abs(double(w(r, j))));
      const double unit = largest / double((1 << (bits - 1)) - 1);
      for (std::size_t j = 0; j < 13; ++j)
        EXPECT_LE(std::abs(double(again(r, j)) - double(w(r, j))), 0.5001 * unit) << bits;
    }
    EXPECT_EQ(unpacked(pack_matrix(again, {bits}), {11, 13}), again) << bits;
  }
}

/// Half of the entries in 8 bits and a bit for each place: 5 bits for 32, and the units.
TEST(PackedMatrix, SparseEntriesTakeTheirBitsOnly) {
  const Tensor w = sparse_numbers({40, 64});
  std::size_t count = 0;
  for (const real value : w) count += value != 0;
  const std::string bytes = pack_matrix(w, {8, true});
  EXPECT_EQ(bytes.size(), header + 40 * 64 / 8 + 40 * 4 + count);
  EXPECT_LT(double(bytes.size()), 0.2 * double(w.size() * 4));
  const Tensor again = unpacked(bytes, {40, 64});
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (w.data()[i] == 0) {
      EXPECT_EQ(again.data()[i], real(0));
    }
  }
}

TEST(PackedMatrix, MasksTakeABit) {
  Tensor mask = sparse_numbers({10, 10});
  for (real& value : mask) value = value != 0;
  EXPECT_EQ(pack_matrix(mask, {1}).size(), header + 13);
  EXPECT_EQ(unpacked(pack_matrix(mask, {1}), {10, 10}), mask);
}

TEST(PackedMatrix, ProductsComeBackMultiplied) {
  const Tensor left = numbers({12, 2}, 1), right = numbers({2, 9}, 2);
  const Tensor product = unpacked(pack_product(left, right, {}), {12, 9});
  for (std::size_t i = 0; i < 12; ++i) {
    for (std::size_t j = 0; j < 9; ++j)
      EXPECT_NEAR(product(i, j), left(i, 0) * right(0, j) + left(i, 1) * right(1, j), 1e-5);
  }
}

TEST(PackedMatrix, EmptyOnesAreFine) {
  EXPECT_EQ(unpacked(pack_matrix(zeros({0, 4}), {8}), {0, 4}).size(), 0u);
  EXPECT_EQ(unpacked(pack_matrix(zeros({3, 0}), {8, true}), {3, 0}).size(), 0u);
}

TEST(PackedMatrix, RefusesBytesThatAreNone) {
  const std::string good = pack_matrix(numbers({6, 6}, 1), {8, true});
  EXPECT_EQ(problem_of(good.substr(0, good.size() - 3), {6, 6}),
            "a packed matrix ends 3 bytes early");
  EXPECT_EQ(problem_of("", {6, 6}), "a packed matrix ends 8 bytes early");
  EXPECT_EQ(problem_of(good + "x", {6, 6}), "a packed matrix has trailing bytes");
  EXPECT_NE(problem_of(good, {7, 6}), "none");
  std::string wrong = good;
  wrong[0] = 17;
  EXPECT_EQ(problem_of(wrong, {6, 6}), "a packed matrix claims 17 bits and rank 0 for (6, 6)");
  wrong = good;
  wrong[4] = 7;
  EXPECT_EQ(problem_of(wrong, {6, 6}), "a packed matrix claims 8 bits and rank 7 for (6, 6)");
}

TEST(PackedMatrix, RefusesRowsThatItsBytesCannotHold) {
  const std::string empty = pack_matrix(zeros({0, 4}), {8});
  EXPECT_EQ(problem_of(empty, {1000, 0}), "a packed matrix ends 4000 bytes early");
  EXPECT_THROW(unpacked(empty, {std::size_t(1) << 60, 0}), std::invalid_argument);
}

/// No byte of damage does worse than an error or other numbers.
TEST(PackedMatrix, SurvivesAnyByte) {
  for (const std::string& good :
       {pack_matrix(sparse_numbers({5, 7}), {8, true}), pack_matrix(numbers({5, 7}, 1), {3}),
        pack_product(numbers({5, 2}, 1), numbers({2, 7}, 2), {4})}) {
    for (std::size_t i = 0; i < good.size(); ++i) {
      for (int value = 0; value < 256; ++value) {
        std::string bytes = good;
        bytes[i] = char(value);
        problem_of(bytes, {5, 7});
      }
    }
  }
}

TEST(PackedMatrix, CheckpointsHoldThem) {
  faults::CrashingStorage storage;
  const Tensor w = numbers({4, 4}, 1);
  const std::string packed = pack_matrix(w, {8});
  write_checkpoint(*storage.create_exclusive("few.ckpt"),
                   {"", {{"model/weight", {4, 4}, w.data(), packed}}, {}});
  const CheckpointReader reader(storage, "few.ckpt");
  EXPECT_EQ(reader.tensors()[0].dtype, Dtype::packed);
  EXPECT_EQ(reader.tensors()[0].bytes, packed.size());
  Tensor right = zeros({4, 4}), wrong = zeros({2, 8});
  reader.load_into("model/weight", right);
  EXPECT_EQ(right, unpacked(packed, {4, 4}));
  EXPECT_EQ(reader.load("model/weight"), right);
  EXPECT_THROW(reader.load_into("model/weight", wrong), DataError);
}

TEST(PackedMatrix, SaysWhatItCannotPack) {
  EXPECT_THROW(pack_matrix(zeros({2, 2}), {17}), std::invalid_argument);
  EXPECT_THROW(pack_matrix(zeros({4}), {}), std::invalid_argument);
  EXPECT_THROW(pack_product(zeros({2, 2}), zeros({3, 2}), {}), std::invalid_argument);
  EXPECT_THROW(pack_product(zeros({2, 0}), zeros({0, 2}), {}), std::invalid_argument);
}

}  // namespace packed_matrix_test
}  // namespace bochner
