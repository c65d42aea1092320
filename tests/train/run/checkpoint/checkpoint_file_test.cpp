#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <bochner/data/files/digest.hpp>
#include <bochner/train/run/checkpoint/packed_matrix.hpp>
#include <cstring>
#include <functional>
#include <random>

#include "faults/crashing_storage.hpp"
#include "faults/sample_run.hpp"

namespace bochner {
namespace checkpoint_file_test {

namespace format = checkpoint_format;
using faults::CrashingStorage;
using faults::Sample;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const Path path = "test.ckpt";

std::string encode(const CheckpointContent& content) {
  CrashingStorage storage;
  write_checkpoint(*storage.create_exclusive(path), content);
  return storage.bytes_of(path);
}

CheckpointReader read(CrashingStorage& storage, const std::string& bytes) {
  if (!storage.exists(path)) storage.create_exclusive(path);
  storage.bytes_of(path) = bytes;
  return CheckpointReader(storage, path);
}

std::string error_of(const std::string& bytes) {
  CrashingStorage storage;
  try {
    read(storage, bytes);
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

/// Access to the parts of a file, so that hostile ones can be made.
struct Forgery {
  std::string bytes;

  format::FileHeader& start() { return *reinterpret_cast<format::FileHeader*>(bytes.data()); }
  format::SectionEntry& section(std::size_t index) {
    const std::size_t offset = sizeof(format::FileHeader) + index * sizeof(format::SectionEntry);
    return *reinterpret_cast<format::SectionEntry*>(bytes.data() + offset);
  }
  format::TensorEntry& first_tensor() {
    return *reinterpret_cast<format::TensorEntry*>(bytes.data() + section(format::table).offset);
  }
  char* first_name() { return reinterpret_cast<char*>(&first_tensor() + 1); }

  /// Makes the header and, where they lie in the file, the sections agree with their checksums.
  std::string sign() {
    for (std::size_t index = 0; index < format::section_count; ++index) {
      format::SectionEntry& entry = section(index);
      const std::uint64_t length = format::padded(entry.bytes);
      if (entry.offset > bytes.size() || length > bytes.size() - entry.offset) continue;
      entry.digest = digest_of(bytes.data() + entry.offset, length);
    }
    const std::uint64_t end = format::header_bytes - format::digest_bytes;
    const std::uint64_t digest = digest_of(bytes.data(), end);
    std::memcpy(bytes.data() + end, &digest, sizeof digest);
    return bytes;
  }
};

std::string error_after(const std::function<void(Forgery&)>& edit) {
  Forgery forgery{encode(Sample(10).content)};
  edit(forgery);
  return error_of(forgery.sign());
}

TEST(CheckpointFile, ReadsBackEveryBit) {
  CrashingStorage storage;
  EXPECT_TRUE(faults::is_sample(read(storage, encode(Sample(10).content))));
}

TEST(CheckpointFile, SavedLoadedAndSavedAgainIsTheSameFile) {
  Sample sample(30);
  TrainerState& state = sample.content.state;
  state = {format_version,           1,       2, 3, 4, 5, 6, 7, 8.5, 9, 10, 11, 12.5, 13, 14, 15.5,
           {{16, 17.5}, {18, 19.5}}, "twenty"};
  state.metrics_digests = {21, 22};
  state.metrics_waiting = "23\n";
  state.data_marks = 24;
  state.metrics_lines = 25;
  const std::string bytes = encode(sample.content);
  CrashingStorage storage;
  const CheckpointReader reader = read(storage, bytes);
  EXPECT_EQ(reader.state(), state);
  CheckpointContent again{reader.config(), {}, reader.state()};
  std::vector<Tensor> tensors;
  for (const StoredTensor& stored : reader.tensors()) tensors.push_back(reader.load(stored.name));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    again.tensors.push_back({reader.tensors()[i].name, tensors[i].shape(), tensors[i].data()});
  EXPECT_EQ(encode(again), bytes);
}

TEST(CheckpointFile, DataBeginOnCacheLines) {
  CrashingStorage storage;
  const CheckpointReader reader = read(storage, encode(Sample(10).content));
  for (const StoredTensor& stored : reader.tensors()) EXPECT_EQ(stored.offset % 64, 0u);
}

TEST(CheckpointFile, HoldsNoTensorAtAll) {
  CheckpointContent content;
  CrashingStorage storage;
  EXPECT_TRUE(read(storage, encode(content)).tensors().empty());
}

/// Files that were written must stay readable: a change of the bytes needs a new format version.
TEST(CheckpointFile, TheBytesOfTheFormatDoNotChange) {
  if (sizeof(real) != 4) GTEST_SKIP() << "the reference is for float";
  const std::string bytes = encode(Sample(10).content);
  EXPECT_EQ(digest_of_elements(bytes), 0x290ddf1aeb53f46full);
}

TEST(CheckpointFile, LoadsOnlyIntoTheSameShape) {
  CrashingStorage storage;
  const CheckpointReader reader = read(storage, encode(Sample(10).content));
  Tensor right = zeros({4, 4}), wrong = zeros({2, 8});
  reader.load_into("model/weight", right);
  EXPECT_TRUE(faults::same(right, Sample(10).weight));
  EXPECT_THROW(reader.load_into("model/weight", wrong), DataError);
  EXPECT_THROW(reader.load("model/weigh"), DataError);
}

TEST(CheckpointFile, RefusesToWriteBadNamesAndRanks) {
  for (const std::string name : {"", "a b", "../up", "a/../b", "/root", "tab\t"}) {
    Sample sample(10);
    sample.content.tensors[0].name = name;
    EXPECT_THROW(encode(sample.content), std::invalid_argument) << name;
  }
  Sample twice(10), deep(10);
  twice.content.tensors[1].name = twice.content.tensors[0].name;
  EXPECT_THROW(encode(twice.content), std::invalid_argument);
  deep.content.tensors[2].shape = Shape(9, 0);
  EXPECT_THROW(encode(deep.content), std::invalid_argument);
}

TEST(CheckpointFile, EveryTruncationIsDetected) {
  const std::string bytes = encode(Sample(10).content);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT(error_of(bytes.substr(0, length)), StartsWith("test.ckpt: truncated")) << length;
  }
  EXPECT_THAT(error_of(bytes + std::string(64, '\0')), HasSubstr("the file has"));
}

TEST(CheckpointFile, EveryBitFlipIsDetected) {
  const std::string bytes = encode(Sample(10).content);
  CrashingStorage storage;
  storage.create_exclusive(path);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_THROW(read(storage, damaged), DataError) << "bit " << bit;
  }
}

TEST(CheckpointFile, SwappedAndZeroedBlocksAreDetected) {
  const std::string bytes = encode(Sample(10).content);
  for (std::size_t from = 0; from + 64 <= bytes.size(); from += 64) {
    std::string zeroed = bytes;
    zeroed.replace(from, 64, 64, '\0');
    EXPECT_TRUE(zeroed == bytes || error_of(zeroed) != "no error") << from;
    for (std::size_t to = from + 64; to + 64 <= bytes.size(); to += 64) {
      std::string swapped = bytes;
      std::swap_ranges(swapped.begin() + from, swapped.begin() + from + 64, swapped.begin() + to);
      EXPECT_TRUE(swapped == bytes || error_of(swapped) != "no error") << from << " " << to;
    }
  }
}

/// Without checksums the harness above would see wrong bits: a signed change is read as data.
TEST(CheckpointFile, WithoutChecksumsADamagedTensorWouldPass) {
  Forgery forgery{encode(Sample(10).content)};
  forgery.bytes[forgery.section(format::tensors).offset] ^= 1;
  CrashingStorage storage;
  EXPECT_FALSE(faults::is_sample(read(storage, forgery.sign())));
}

TEST(CheckpointFile, NamesTheFileTheProblemAndTheOffset) {
  const std::string bytes = encode(Sample(10).content);
  const std::string size = std::to_string(bytes.size());
  EXPECT_EQ(error_of(bytes.substr(0, 800)), "test.ckpt: truncated: the header claims " + size +
                                                " bytes, the file has 800 (byte 24)");
  EXPECT_EQ(error_of(""), "test.ckpt: truncated: 0 bytes in all (byte 0)");
  EXPECT_EQ(error_of(std::string(500, 'x')), "test.ckpt: not a bochner checkpoint (byte 0)");
}

TEST(CheckpointFile, RefusesNewerVersions) {
  EXPECT_EQ(error_after([](Forgery& file) { file.start().version = 2; }),
            "test.ckpt: format version 2, this program reads 1; use a newer bochner (byte 8)");
}

TEST(CheckpointFile, RefusesStatesOfAnotherSize) {
  for (const int more : {-1, 1}) {
    Sample sample(10);
    sample.content.state.numerics = "of a length that leaves room";
    Forgery forgery{encode(sample.content)};
    forgery.section(format::state).bytes += more;
    EXPECT_THAT(error_of(forgery.sign()), HasSubstr(": written by a pre-release build; "));
  }
}

TEST(CheckpointFile, RefusesAnotherPrecision) {
  Forgery forgery{encode(Sample(10).content)};
  forgery.first_tensor().dtype = static_cast<std::uint16_t>(Dtype::f64);
  forgery.first_tensor().dims[0] = 2;
  CrashingStorage storage;
  const CheckpointReader reader = read(storage, forgery.sign());
  EXPECT_EQ(reader.tensors()[0].dtype, Dtype::f64);
  try {
    reader.load("model/weight");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), EndsWith(": tensor model/weight is f64, this program computes in "
                                       "f32; use a build of that precision, or train again"));
  }
}

/// The first tensor of the sample, in 8 bits.
std::string packed_weight() {
  Sample sample(10);
  Tensor weight = zeros({4, 4});
  std::copy_n(sample.content.tensors[0].data, 16, weight.data());
  return pack_matrix(weight, {8});
}

std::string packed_sample() {
  Sample sample(10);
  sample.content.tensors[0].packed = packed_weight();
  return encode(sample.content);
}

TEST(CheckpointFile, RefusesHostilePackedMatrices) {
  const auto load_error = [](auto edit) -> std::string {
    Forgery forgery{packed_sample()};
    edit(forgery);
    CrashingStorage storage;
    try {
      read(storage, forgery.sign()).load("model/weight");
    } catch (const DataError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(load_error([](Forgery& file) { file.first_tensor().dims[0] = 1 << 25; }),
              HasSubstr("claims 40 bytes for (33554432, 4) of packed numbers"));
  EXPECT_THAT(load_error([](Forgery& file) { file.first_tensor().dims[0] = 1 << 20; }),
              HasSubstr("tensor model/weight: a packed matrix ends "));
  EXPECT_THAT(load_error([](Forgery& file) { file.first_tensor().rank = 1; }),
              HasSubstr("claims 40 bytes for (4)"));
  EXPECT_THAT(load_error([](Forgery& file) {
                file.bytes[file.section(format::tensors).offset + 4] = 5;  // the rank
              }),
              HasSubstr("tensor model/weight: a packed matrix claims 8 bits and rank 5"));
}

TEST(CheckpointFile, RefusesHostileTensors) {
  const auto tensor_error = [](auto edit) {
    return error_after([&](Forgery& file) { edit(file.first_tensor()); });
  };
  EXPECT_THAT(tensor_error([](auto& entry) { entry.dims[0] = std::uint64_t(1) << 60; }),
              HasSubstr("claims 64 bytes for (1152921504606846976, 4)"));
  EXPECT_THAT(tensor_error([](auto& entry) {
                entry.dims[0] = std::uint64_t(1) << 57;
                entry.bytes = (std::uint64_t(1) << 57) * 4 * sizeof(real);
              }),
              HasSubstr("exceed the file"));
  EXPECT_THAT(tensor_error([](auto& entry) {
                entry.dims[0] = entry.dims[1] = std::uint64_t(1) << 32;  // wraps to zero
                entry.bytes = 0;
              }),
              HasSubstr("claims 0 bytes"));
  EXPECT_THAT(tensor_error([](auto& entry) { entry.rank = 1000000; }),
              HasSubstr("has rank 1000000, more than 8"));
  EXPECT_THAT(tensor_error([](auto& entry) { entry.dtype = 9; }), HasSubstr("unknown dtype 9"));
  EXPECT_THAT(tensor_error([](auto& entry) { entry.offset = 64; }), HasSubstr("overlap"));
  EXPECT_THAT(tensor_error([](auto& entry) { entry.offset = std::uint64_t(0) - 64; }),
              HasSubstr("overlap"));
  EXPECT_THAT(tensor_error([](auto& entry) { entry.name_bytes = 0xffff; }),
              HasSubstr("ends within a name"));
}

TEST(CheckpointFile, RefusesHostileNames) {
  const auto name_error = [](const char* name) {
    return error_after(
        [&](Forgery& file) { std::memcpy(file.first_name(), name, std::strlen(name)); });
  };
  EXPECT_THAT(name_error("../"), HasSubstr("invalid tensor name: \"../el/weight\""));
  EXPECT_THAT(name_error("/etc/"), HasSubstr("invalid tensor name"));
  EXPECT_THAT(name_error("a\nb"), HasSubstr("a\\x0abel/weight"));
  EXPECT_THAT(error_after([](Forgery& file) {
                // The third tensor is named "empty"; the first takes a name of the same length.
                char* name = file.bytes.data() + file.bytes.find("empty");
                std::memcpy(name, "model", 5);
                file.first_tensor().name_bytes = 5;
              }),
              HasSubstr("test.ckpt: "));
}

TEST(CheckpointFile, RefusesDuplicateNames) {
  Sample sample(10);
  sample.content.tensors[1].name = "model/weighs";
  Forgery forgery{encode(sample.content)};
  forgery.bytes[forgery.bytes.find("model/weighs") + 11] = 't';
  EXPECT_THAT(error_of(forgery.sign()), HasSubstr("two tensors are named model/weight"));
}

TEST(CheckpointFile, RefusesHostileSections) {
  for (std::size_t index = 0; index < format::section_count; ++index) {
    const auto section_error = [&](auto edit) {
      return error_after([&](Forgery& file) { edit(file.section(index)); });
    };
    EXPECT_THAT(section_error([](auto& entry) { entry.offset -= 64; }), HasSubstr("it must begin"));
    EXPECT_THAT(section_error([](auto& entry) { entry.offset += 64; }), HasSubstr("it must begin"));
    EXPECT_THAT(section_error([](auto& entry) { entry.bytes = ~std::uint64_t(0); }),
                HasSubstr("it must begin"));
    EXPECT_THAT(section_error([](auto& entry) { entry.bytes = std::uint64_t(1) << 60; }),
                HasSubstr("it must begin"));
    EXPECT_THAT(section_error([](auto& entry) { entry.bytes += 64; }), StartsWith("test.ckpt: "));
    EXPECT_THAT(section_error([](auto& entry) { entry.name[0] = 'x'; }), HasSubstr("is missing"));
  }
  EXPECT_THAT(error_after([](Forgery& file) { file.start().section_count = 0xffffffff; }),
              HasSubstr("4294967295 sections"));
  EXPECT_THAT(error_after([](Forgery& file) { file.start().header_bytes = 1u << 31; }),
              HasSubstr("damaged header"));
  EXPECT_THAT(error_after([](Forgery& file) { file.section(format::table).bytes -= 1; }),
              StartsWith("test.ckpt: "));
}

/// Any bytes under right checksums: the parser alone must hold.
TEST(CheckpointFile, SignedNonsenseIsRefusedOrRead) {
  const std::string bytes = encode(Sample(10).content);
  std::mt19937_64 random(20240229);
  std::size_t refused = 0;
  CrashingStorage storage;
  for (int round = 0; round < 20000; ++round) {
    Forgery forgery{bytes};
    const std::size_t front = forgery.section(format::tensors).offset - format::header_bytes;
    for (int change = 0; change < 1 + round % 3; ++change) {
      const std::size_t at = format::header_bytes + random() % front;
      forgery.bytes[at] = static_cast<char>(random());
    }
    try {
      const CheckpointReader reader = read(storage, forgery.sign());
      for (const StoredTensor& stored : reader.tensors()) {
        if (stored.dtype == dtype_of_real) reader.load(stored.name);
      }
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000u);
}

TEST(CheckpointFile, ASmallFileThatClaimsMuchTakesNoMemory) {
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  for (std::size_t size = 32; size <= 300; ++size) {
    Forgery forgery{encode(Sample(10).content)};
    for (std::size_t index = 0; index < format::section_count; ++index) {
      forgery.section(index).bytes = std::uint64_t(1) << 60;
    }
    forgery.sign();
    forgery.start().file_bytes = size;
    EXPECT_NE(error_of(forgery.bytes.substr(0, size)), "no error");
    forgery.start().file_bytes = std::uint64_t(1) << 60;
    EXPECT_NE(error_of(forgery.bytes.substr(0, size)), "no error");
  }
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 * 1024);  // KiB
}

TEST(CheckedBytes, RefusesEveryOverflow) {
  using Dims = std::vector<std::uint64_t>;
  EXPECT_EQ(checked_bytes(Dims{}, Dtype::f32), 4u);
  EXPECT_EQ(checked_bytes(Dims{3, 5}, Dtype::f64), 120u);
  EXPECT_EQ(checked_bytes(Dims{3, 0}, Dtype::f64), 0u);
  EXPECT_EQ(checked_bytes(Dims{std::uint64_t(1) << 60}, Dtype::f32), std::uint64_t(1) << 62);
  EXPECT_EQ(checked_bytes(Dims{std::uint64_t(1) << 60}, Dtype::f64), std::nullopt);
  EXPECT_EQ(checked_bytes(Dims{std::uint64_t(1) << 32, std::uint64_t(1) << 32}, Dtype::f32),
            std::nullopt);
  EXPECT_EQ(checked_bytes(Dims{std::uint64_t(1) << 60, 16, 0}, Dtype::f32), std::nullopt);
  EXPECT_EQ(checked_bytes(Dims{1}, static_cast<Dtype>(3)), std::nullopt);
}

}  // namespace checkpoint_file_test
}  // namespace bochner
