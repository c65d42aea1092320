#include <gtest/gtest.h>
#include <sys/resource.h>

#include <bochner/data/byte_corpus.hpp>
#include <bochner/data/files/errors.hpp>

#include "data/temporary_folder.hpp"

namespace bochner {
namespace byte_corpus_test {

namespace fs = std::filesystem;

std::string text(const ByteCorpus& corpus, std::uint64_t begin, std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  corpus.read(begin, bytes);
  return std::string(bytes.begin(), bytes.end());
}

std::uint64_t fingerprint_of(const std::vector<fs::path>& files) {
  return ByteCorpus(files).fingerprint();
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

TEST(ByteCorpus, ReportsAMissingFile) { EXPECT_THROW(ByteCorpus({"/absent"}), IoError); }

TEST(ByteCorpus, AFileThatBecomesShorterIsAnErrorThatNamesIt) {
  TemporaryFolder folder;
  const auto first = folder.write("first", "abcd"), second = folder.write("second", "efghij");
  const ByteCorpus corpus({first, second});
  fs::resize_file(second, 3);
  EXPECT_EQ(text(corpus, 2, 5), "cdefg");
  EXPECT_EQ(message_of<DataError>([&] { text(corpus, 3, 6); }),
            second.string() + ": has become shorter, it ends before byte 5 of 6; restore it");
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
  const std::uint64_t before = fingerprint_of({file});
  const ByteCorpus corpus({file, folder.write("next", "next")});
  EXPECT_EQ(corpus.size(), size + 4);
  EXPECT_EQ(text(corpus, size - 2, 5), std::string("\0znex", 5));
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 1 << 20) << "KiB";
  overwrite(file, size - 1, 'y');
  EXPECT_NE(fingerprint_of({file}), before);
}

}  // namespace byte_corpus_test
}  // namespace bochner
