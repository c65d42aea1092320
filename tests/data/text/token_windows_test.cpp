#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/text/token_windows.hpp>
#include <set>

#include "data/batches.hpp"
#include "data/gzip_file.hpp"
#include "data/messages.hpp"
#include "data/temporary_folder.hpp"

namespace bochner {
namespace windows_test {

using testing::AllOf;
using testing::HasSubstr;

/// Returns bytes by position: positions up to 65,535 can be recovered from two neighbours.
std::uint8_t byte_at(std::uint64_t place) {
  return std::uint8_t(place % 2 ? place >> 9 : place / 2);
}

std::string numbered(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = char(byte_at(i));
  return text;
}

struct Windows : testing::Test {
  TemporaryFolder folder;

  ByteWindows windows(std::size_t bytes, std::size_t length, double validation = 0.1,
                      std::uint64_t seed = 1) {
    const std::string text = numbered(bytes);
    const std::size_t third = bytes / 3;
    return ByteWindows(ByteCorpus({folder.write("a", text.substr(0, third)), folder.write("b", ""),
                                   folder.write("c", text.substr(third))}),
                       length, validation, seed);
  }
};

/// Checks row `row` of the batch and returns where it begins in numbered bytes.
std::uint64_t place_of(const Batch& batch, std::size_t row) {
  const std::size_t length = batch.inputs.shape[1];
  const auto* inputs = batch.inputs.values.data() + row * length;
  const auto* targets = batch.targets.values.data() + row * length;
  for (std::uint64_t place = 0; place < 65536; ++place) {
    bool fits = true;
    for (std::size_t t = 0; t < length && fits; ++t)
      fits = inputs[t] == byte_at(place + t) && targets[t] == byte_at(place + t + 1);
    if (fits) return place;
  }
  ADD_FAILURE() << "row " << row << " is no window of the text";
  return 0;
}

std::vector<std::uint64_t> places(const Batch& batch) {
  std::vector<std::uint64_t> result;
  for (std::size_t row = 0; row < batch.inputs.shape[0]; ++row)
    result.push_back(place_of(batch, row));
  return result;
}

TEST_F(Windows, SplitsAsTheReferenceDoes) {
  const auto data = windows(1115, 8);
  EXPECT_EQ(data.train_bytes(), 1003u);
  EXPECT_EQ(data.validation_bytes(), 112u);
  EXPECT_EQ(data.examples(Split::train), 1002u / 8 - 1);
  EXPECT_EQ(data.examples(Split::validation), 111u / 8);
}

TEST_F(Windows, HasARestBehindTheLastWindow) {
  const auto data = windows(1115, 8);
  const Examples rest = data.rest(Split::validation);
  ASSERT_EQ(rest.size(), 1u);
  const Batch batch = data.batch(rest);
  EXPECT_EQ(batch.inputs.shape, (std::vector<std::size_t>{1, 111 % 8}));
  EXPECT_EQ(place_of(batch, 0), 1003u + 111 / 8 * 8);
  EXPECT_EQ(data.rest(Split::train).size(), 0u);
  for (std::size_t bytes = 1100; bytes < 1200; ++bytes) {
    const auto other = windows(bytes, 8);
    const bool has_rest = (other.validation_bytes() - 1) % 8 != 0;
    EXPECT_EQ(other.rest(Split::validation).size(), has_rest ? 1u : 0u) << bytes;
  }
}

TEST_F(Windows, MayLeaveOutTheValidation) {
  const auto data = windows(1115, 8, 0);
  EXPECT_EQ(data.train_bytes(), 1115u);
  EXPECT_EQ(data.examples(Split::validation), 0u);
  EXPECT_EQ(data.batches(Split::validation, 4), 0u);
}

TEST_F(Windows, EveryEpochVisitsDistinctWindowsOfTheTrainingPart) {
  const auto data = windows(3000, 16);
  const auto count = data.examples(Split::train);
  std::set<std::uint64_t> offsets;
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t epoch = 0; epoch < 8; ++epoch) {
    auto visited = places(training_batch(data, epoch * count, count));
    const auto first = *std::ranges::min_element(visited);
    auto order = visited;
    for (auto& place : order) place -= first;
    orders.insert(order);
    std::ranges::sort(visited);
    for (std::size_t i = 0; i < visited.size(); ++i) ASSERT_EQ(visited[i], first + i * 16);
    EXPECT_LT(first, 16u);
    EXPECT_LE(visited.back() + 17, data.train_bytes());
    offsets.insert(first);
  }
  EXPECT_EQ(orders.size(), 8u);
  EXPECT_GT(offsets.size(), 3u);
}

TEST_F(Windows, TheNumberOfTheExampleIsTheWholeState) {
  const auto data = windows(1000, 16), again = windows(1000, 16);
  const auto count = data.examples(Split::train);
  ASSERT_EQ(count, 55u);
  const auto all = places(training_batch(data, 0, 3 * count));
  for (const std::size_t size : {1, 7, 64}) {
    std::vector<std::uint64_t> pieces;
    for (std::uint64_t first = 0; first < 3 * count; first += size)
      for (const auto place :
           places(training_batch(again, first, std::min<std::uint64_t>(size, 3 * count - first))))
        pieces.push_back(place);
    EXPECT_EQ(pieces, all) << size;
  }
}

TEST_F(Windows, SeedsChangeTheOrder) {
  EXPECT_NE(places(training_batch(windows(1000, 16, 0.1, 1), 0, 20)),
            places(training_batch(windows(1000, 16, 0.1, 2), 0, 20)));
}

TEST_F(Windows, ShapesAreBatchByLength) {
  const auto batch = training_batch(windows(1000, 16), 5, 3);
  EXPECT_EQ(batch.inputs.shape, (Shape{3, 16}));
  EXPECT_EQ(batch.targets.shape, (Shape{3, 16}));
  EXPECT_EQ(batch.inputs.values.size(), 48u);
  EXPECT_EQ(batch.targets.values.size(), 48u);
}

TEST_F(Windows, ValidationCoversEveryWindowOnceInOrder) {
  const auto data = windows(1000, 7, 0.25);
  ASSERT_EQ(data.examples(Split::validation), 249u / 7);
  for (const std::size_t size : {1, 8, 35, 100}) {
    std::vector<std::uint64_t> visited;
    for (std::uint64_t i = 0; i < data.batches(Split::validation, size); ++i)
      for (const auto place : places(held_out_batch(data, i, size))) visited.push_back(place);
    ASSERT_EQ(visited.size(), 35u) << size;
    for (std::size_t i = 0; i < visited.size(); ++i) EXPECT_EQ(visited[i], 750 + 7 * i);
  }
  EXPECT_EQ(held_out_batch(data, 4, 8).inputs.shape, (Shape{3, 7}));
  EXPECT_THROW(held_out_batch(data, 5, 8), std::invalid_argument);
  EXPECT_THROW(data.batches(Split::validation, 0), std::invalid_argument);
}

TEST_F(Windows, SmallestSplitsGiveOneExample) {
  for (std::size_t bytes = 18; bytes < 60; ++bytes) {
    const auto data = windows(bytes, 8, 0.5);
    for (const auto place : places(training_batch(data, 0, 20)))
      EXPECT_LE(place + 9, data.train_bytes());
    EXPECT_EQ(data.examples(Split::train), std::max<std::uint64_t>(1, (bytes / 2 - 1) / 8 - 1));
  }
}

TEST_F(Windows, BytesAbove127StayPositive) {
  const auto file = folder.write("high", std::string(100, '\xff'));
  const ByteWindows data(ByteCorpus({file}), 4, 0.5, 1);
  EXPECT_EQ(training_batch(data, 0, 1).inputs.values, std::vector<std::int32_t>(4, 255));
}

TEST_F(Windows, SplitsThatAreTooSmallNameTheNeededSize) {
  EXPECT_THAT(message_of<DataError>([&] { windows(16, 8, 0.5); }),
              AllOf(HasSubstr("data.length = 8"), HasSubstr("at least 9 training bytes"),
                    HasSubstr("there are 8"), HasSubstr("smaller data.length")));
  EXPECT_THAT(message_of<DataError>([&] { windows(80, 8, 0.1); }),
              AllOf(HasSubstr("at least 9 validation bytes"), HasSubstr("there are 8"),
                    HasSubstr("larger data.validation")));
  EXPECT_THROW(windows(0, 8), DataError);
}

TEST_F(Windows, RefusesImpossibleSettings) {
  for (const double validation : {1.0, -0.1, 2.0, std::nan("")})
    EXPECT_THAT(message_of<std::invalid_argument>([&] { windows(1000, 8, validation); }),
                HasSubstr("data.validation"));
  EXPECT_THROW(windows(1000, 0), std::invalid_argument);
}

namespace fs = std::filesystem;

std::string text(const ByteCorpus& corpus, std::uint64_t begin, std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  corpus.read(begin, bytes);
  return std::string(bytes.begin(), bytes.end());
}

std::uint64_t fingerprint_of(const std::vector<fs::path>& files) {
  return *ByteCorpus(files).fingerprint({});
}

void overwrite(const fs::path& file, std::uint64_t position, char byte) {
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(std::streamoff(position));
  stream.put(byte);
}

TEST(ByteCorpus, ReadsAnyWindowAcrossFilesAndEmptyFiles) {
  TemporaryFolder folder;
  const ByteCorpus corpus({folder.write("0", ""), folder.write("a", "ab\r\n"),
                           folder.write("b", ""), folder.write("c", ""),
                           folder.write("d", std::string("\0\xff", 2)), folder.write("e", "xyz"),
                           folder.write("f", "")});
  const std::string all = std::string("ab\r\n\0\xffxyz", 9);
  ASSERT_EQ(corpus.size(), all.size());
  EXPECT_EQ(corpus.file_count(), 7u);
  for (std::size_t begin = 0; begin <= all.size(); ++begin)
    for (std::size_t count = 0; begin + count <= all.size(); ++count)
      EXPECT_EQ(text(corpus, begin, count), all.substr(begin, count)) << begin << " " << count;
  EXPECT_THROW(text(corpus, 9, 1), std::invalid_argument);
  EXPECT_THROW(text(corpus, 10, 0), std::invalid_argument);
  EXPECT_THROW(text(corpus, ~std::uint64_t(0), 2), std::invalid_argument);
}

TEST(ByteCorpus, MayBeEmpty) {
  EXPECT_EQ(ByteCorpus({}).size(), 0u);
  TemporaryFolder folder;
  EXPECT_EQ(ByteCorpus({folder.write("empty", "")}).size(), 0u);
}

TEST(ByteCorpus, RefusesCompressedTexts) {
  TemporaryFolder folder;
  const auto plain = folder.write("a", "plain"), packed = folder.write("b", gzip("packed"));
  EXPECT_EQ(message_of<DataError>([&] {
              ByteCorpus({plain, packed});
            }),
            packed.string() + ": is a gzip file; unpack it");
}

TEST(ByteCorpus, ReportsAMissingFile) { EXPECT_THROW(ByteCorpus({"/absent"}), IoError); }

TEST(ByteCorpus, AFileThatBecomesShorterIsAnErrorThatNamesIt) {
  TemporaryFolder folder;
  const auto first = folder.write("first", "abcd"), second = folder.write("second", "efghij");
  const ByteCorpus corpus({first, second});
  fs::resize_file(second, 3);
  EXPECT_EQ(text(corpus, 2, 5), "cdefg");
  EXPECT_EQ(message_of<DataError>([&] { text(corpus, 3, 6); }),
            second.string() + ": was truncated: it ends before byte 5 of 6; restore it");
  fs::remove(first);
  folder.write("first", "ABCD");
  EXPECT_EQ(text(corpus, 0, 4), "abcd") << "not the file that was opened";
}

// Computed with the Python package xxhash from little-endian borders followed by the contents.
TEST(ByteCorpus, FingerprintIsFixedForEver) {
  TemporaryFolder folder;
  EXPECT_EQ(fingerprint_of({folder.write("a", "hello "), folder.write("b", ""),
                            folder.write("c", "world\r\n")}),
            0x070758a1ef8b6f9du);
  EXPECT_EQ(fingerprint_of({}), 0x34c96acdcadb1bbbu);
}

TEST(ByteCorpus, FingerprintSeesContentsAndBordersButNoNames) {
  TemporaryFolder folder;
  const auto abc = folder.write("1", "abc"), d = folder.write("2", "d");
  const auto same = folder.write("other/name", "abc");
  const auto ab = folder.write("3", "ab"), cd = folder.write("4", "cd");
  const auto changed = folder.write("5", "abd");
  EXPECT_EQ(fingerprint_of({abc, d}), fingerprint_of({same, d}));
  EXPECT_NE(fingerprint_of({abc, d}), fingerprint_of({ab, cd}));
  EXPECT_NE(fingerprint_of({abc, d}), fingerprint_of({changed, d}));
  EXPECT_NE(fingerprint_of({abc, d}), fingerprint_of({d, abc}));
}

TEST(ByteCorpus, FingerprintOfSixtyFourMebibytesSeesEveryByte) {
  TemporaryFolder folder;
  const auto file = folder.write("large");
  const std::uint64_t size = std::uint64_t(64) << 20;
  fs::resize_file(file, size);
  std::uint64_t before = fingerprint_of({file});
  for (const std::uint64_t position : {std::uint64_t(0), (size >> 1) - 1, size / 3, size - 1}) {
    overwrite(file, position, 'y');
    const std::uint64_t after = fingerprint_of({file});
    EXPECT_NE(after, before) << position;
    before = after;
  }
}

TEST(ByteCorpus, HugeFilesAreNeitherCopiedNorReadWhole) {
  TemporaryFolder folder;
  const auto file = folder.write("huge");
  const std::uint64_t size = std::uint64_t(8) << 30;
  fs::resize_file(file, size);
  overwrite(file, size - 1, 'z');
  const ByteCorpus corpus({file, folder.write("next", "next")});
  EXPECT_EQ(corpus.size(), size + 4);
  EXPECT_EQ(text(corpus, size - 2, 5), std::string("\0znex", 5));
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 1 << 20) << "KiB";
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(corpus.fingerprint(stop.get_token()));
}

TEST(ByteCorpus, FingerprintAndMarksOfLargeFilesSeeOneByte) {
  TemporaryFolder folder;
  const auto file = folder.write("large");
  fs::resize_file(file, 66 << 20);
  const ByteCorpus corpus({file});
  const std::uint64_t before = fingerprint_of({file}), marks = corpus.marks();
  overwrite(file, (1 << 20) + 10000, 'y');
  EXPECT_NE(fingerprint_of({file}), before);
  EXPECT_NE(corpus.marks(), marks);
  EXPECT_EQ(ByteCorpus({folder.write("small", "x")}).marks(), 0u);
}

/// Holds for a text that is hardly longer than a window too.
TEST_F(Windows, EveryByteOfAShortTextButTheFirstIsATargetOfSomeEpoch) {
  const auto data = windows(20, 16, 0);
  std::set<std::uint64_t> targets;
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch)
    for (std::uint64_t t = 1; t <= 16; ++t)
      targets.insert(places(training_batch(data, epoch, 1))[0] + t);
  EXPECT_EQ(targets.size(), 19u);
}

}  // namespace windows_test
}  // namespace bochner
