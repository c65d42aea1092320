#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/npy.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <cmath>
#include <limits>

#include "data/golden_file.hpp"
#include "data/gzip_file.hpp"
#include "data/image_files.hpp"
#include "data/temporary_folder.hpp"

namespace bochner {
namespace read_array_test {

using testing::ElementsAre;
using testing::HasSubstr;

NamedArray parse(const std::string& file, const std::string& array = "") {
  return parse_array(bytes_of(file), "a", {.array = array});
}

std::string npz(const NamedArrays& arrays) {
  std::string file;
  write_npz(arrays, [&](std::string_view piece) { file += piece; });
  return file;
}

const xt::xarray<double> three{1, 2, 3}, other{4, 5, 6}, matrix{{1, 2}, {3, 4}};

TEST(ReadArray, TellsTheKindsOfFiles) {
  EXPECT_EQ(file_kind(bytes_of(golden_file("f8.npy"))), "npy");
  EXPECT_EQ(file_kind(bytes_of(golden_file("stored.npz"))), "npz");
  EXPECT_EQ(file_kind(bytes_of(npz({}))), "npz");
  EXPECT_EQ(file_kind(bytes_of(idx_file({1}, "x"))), "idx");
  EXPECT_EQ(file_kind(bytes_of(cifar_record_of("\1"))), "cifar");
  for (const char* text : {"", "1,2\n", "date,x\n"}) EXPECT_EQ(file_kind(bytes_of(text)), "csv");
}

TEST(ReadArray, ReadsEachKind) {
  EXPECT_EQ(parse(golden_file("f8.npy")).values.dimension(), 3u);
  EXPECT_EQ(parse(idx_file({2}, "ab")).values(1), 'b');
  EXPECT_EQ(parse(cifar_record_of("\1")).values(0, 3072), 7);
  EXPECT_THAT(parse("a,b\n1,2\n").columns, ElementsAre("a", "b"));
  EXPECT_EQ(parse(npz({{"x", matrix}})).values, matrix);
}

TEST(ReadArray, VectorsOfEqualLengthAreATable) {
  const NamedArray table = parse(npz({{"x", three}, {"y", other}}));
  EXPECT_THAT(table.columns, ElementsAre("x", "y"));
  EXPECT_EQ(table.values.shape(0), 3u);
  EXPECT_EQ(table.values(2, 1), 6);
  EXPECT_EQ(parse(npz({{"x", three}, {"y", other}}), "y").values, other);
  EXPECT_EQ(message_of<DataError>([] {
              parse(npz({{"x", three}, {"y", matrix}}));
            }),
            "a: holds \"x\" (3,), \"y\" (2, 2); choose one array");
  EXPECT_THAT(message_of<DataError>([] { parse(npz({})); }), HasSubstr("no arrays"));
}

/// Behaves like a table of text.
TEST(ReadArray, TablesOfNumbersAreReadAsTold) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::string file = npz({{"v", {1, none, 4}}, {"w", {none, 5, 6}}, {"t", {7, 8, 9}}});
  const auto read = [&](const CsvOptions& csv) {
    return parse_array(bytes_of(file), "a", {.csv = csv});
  };
  EXPECT_FALSE(read({}).time);
  EXPECT_TRUE(std::isnan(read({}).values(1, 0)));
  const NamedArray table = read({.columns = {"v"}, .time = "t", .missing = "forward"});
  EXPECT_EQ(table.time, 2u);
  EXPECT_TRUE(table.numeric_time);
  EXPECT_EQ(table.values(1, 0), 1);
  EXPECT_EQ(read({.missing = "mean"}).values(0, 1), 5.5);
  EXPECT_EQ(message_of<DataError>([&] { read({.missing = "forward"}); }),
            "a: column w has no first value that can be carried forward");
  EXPECT_THAT(message_of<DataError>([&] { read({.time = "day"}); }),
              HasSubstr("no column \"day\""));
}

TEST(ReadArray, RefusesKnownFormatsByName) {
  const TemporaryFolder folder;
  const auto problem = [&](const std::string& name, const std::string& text) {
    return message_of<DataError>([&] { read_array(folder.write(name, text)); });
  };
  EXPECT_THAT(problem("a.xlsx", "PK\3\4"), HasSubstr("pandas.read_excel(FILE).to_csv("));
  EXPECT_THAT(problem("a.parquet", "PAR1"), HasSubstr("bochner.train(pandas.read_parquet(FILE))"));
  EXPECT_THAT(problem("store", "SQLite format 3\n"), HasSubstr("pandas.read_sql(QUERY, "));
  EXPECT_THAT(problem("a.JSON.gz", "[]"), HasSubstr("is a file of JSON"));
  EXPECT_THAT(problem("a.zip", "PK\3\4"), HasSubstr("is a file of zip, which this command "
                                                    "does not read; unpack it"));
  EXPECT_THAT(problem("part-0", "PAR1.."), HasSubstr("Parquet"));
}

TEST(ReadArray, AHeaderLimitsWhatItsFileInflatesTo) {
  const TemporaryFolder folder;
  const std::string npy = golden_file("u1.npy");
  EXPECT_EQ(read_array(folder.write("a.gz", gzip(npy))).values.size(), 24u);
  const auto bomb = folder.write("b.gz", gzip(npy + std::string(1 << 20, '\0')));
  EXPECT_THAT(message_of<DataError>([&] { read_array(bomb); }),
              HasSubstr("decompresses to more than the limit of 152 bytes"));
}

}  // namespace read_array_test
}  // namespace bochner
