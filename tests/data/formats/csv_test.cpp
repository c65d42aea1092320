#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "data/formats/csv_check.hpp"
#include "data/temporary_folder.hpp"

namespace bochner {
namespace csv_test {

using namespace csv_check;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string written(const NamedArray& array) {
  std::string text;
  write_csv(array, [&](std::string_view piece) { text += piece; });
  return text;
}

TEST(Csv, ReadsNamesAndNumbers) {
  const NamedArray table = parse("a,b c\n1,-2.5e3\n +3 ,\t.5\n");
  EXPECT_THAT(table.columns, ElementsAre("a", "b c"));
  EXPECT_EQ(table.values.shape(0), 2u);
  EXPECT_EQ(table.values.shape(1), 2u);
  EXPECT_THAT(numbers(table), ElementsAre(1, -2500, 3, 0.5));
  EXPECT_FALSE(table.time);
}

TEST(Csv, SplitsRecordsAsTheStandardSays) {
  const NamedArray table =
      parse("\xef\xbb\xbf\"a\"\"b\",\"c,\r\nd\",\"e\"\r\n\"1\",2,3\r\n\r\n4,\"5\",6");
  EXPECT_THAT(table.columns, ElementsAre("a\"b", "c,\r\nd", "e"));
  EXPECT_THAT(numbers(table), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(numbers(parse("1;2\r\n3;4\r", {.delimiter = ";"})), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(numbers(parse("1\t2\n", {.delimiter = "tab"})), ElementsAre(1, 2));
}

TEST(Csv, FindsOutWhetherThereIsAHeader) {
  EXPECT_THAT(parse("1,2\n3,4\n").columns, ElementsAre());
  EXPECT_THAT(parse("1,x\n3,4\n").columns, ElementsAre("1", "x"));
  EXPECT_THAT(numbers(parse("NA,2\n3,4\n", {.missing = "nan"})).size(), 4u);
  EXPECT_THAT(parse("1,2\n3,4\n", {.header = "yes"}).columns, ElementsAre("1", "2"));
  EXPECT_THAT(parse(",b\n3,4\n").columns, ElementsAre("1", "b"));
  EXPECT_THAT(parse(",0,1\n0,3,4\n", {.header = "yes"}).columns, ElementsAre("column 1", "0", "1"));
  EXPECT_THAT(problem("x,2\n3,4\n", {.header = "no"}), StartsWith("a.csv:1:1: column 1: \"x\" "));
}

TEST(Csv, ChoosesColumnsByNameOrNumber) {
  const std::string text = "a,b,word\n1,2,x\n4,5,y\n";
  EXPECT_THAT(numbers(parse(text, {.columns = {"b", "1"}})), ElementsAre(2, 1, 5, 4));
  EXPECT_THAT(parse(text, {.columns = {"2"}}).columns, ElementsAre("b"));
  EXPECT_THAT(numbers(parse("1,2\n", {.columns = {"2"}})), ElementsAre(2));
  EXPECT_EQ(problem(text, {.columns = {"c"}}),
            "a.csv: no column \"c\"; there are: \"a\", \"b\", \"word\"");
  EXPECT_THAT(problem("1,2\n", {.columns = {"0"}}), HasSubstr("there are: columns 1 to 2"));
  EXPECT_THAT(problem(text, {.columns = {"a", "1"}}), HasSubstr("chosen twice"));
}

TEST(Csv, ReadsTimeStamps) {
  const NamedArray table = parse("when,x\n2016-07-01 00:00:00,1\n2016-07-01T01:00Z,2\n");
  EXPECT_THAT(numbers(table), ElementsAre(1467331200, 1, 1467334800, 2));
  EXPECT_EQ(table.time, 0u);
  const CsvOptions days{.columns = {"x", "day"}, .time = "day", .time_format = "%Y%m%d"};
  const NamedArray other = parse("day,x\n20160701,7\n", days);
  EXPECT_THAT(numbers(other), ElementsAre(7, 1467331200));
  EXPECT_EQ(other.time, 1u);
}

TEST(Csv, ReadsNamedColumnsAndTheTimeAndNothingElse) {
  const CsvOptions named{.named_columns = {"b", "a"}};
  const NamedArray table =
      parse("note,a,t,b,u\n5,1,2016-07-01,2,2016-07-02\nx,3,2016-07-03,4,\n", named);
  EXPECT_THAT(table.columns, ElementsAre("b", "a", "t"));
  EXPECT_EQ(table.time, 2u);
  EXPECT_THAT(numbers(table), ElementsAre(2, 1, 1467331200, 4, 3, 1467504000));
  EXPECT_THAT(parse("a,b\n1,2\n", named).columns, ElementsAre("b", "a"));
  EXPECT_THAT(numbers(parse("1,2,3\n", named)), ElementsAre(1, 2, 3));  // there are no names
  EXPECT_EQ(problem("a,c\n1,2\n", named), "a.csv: no column \"b\"; there are: \"a\", \"c\"");
  const NamedArray stamped =
      parse("x,s,a\n7,10,1\n", {.named_columns = {"a"}, .time = "s", .time_format = "%s"});
  EXPECT_THAT(numbers(stamped), ElementsAre(1, 10));
  EXPECT_EQ(stamped.time, 1u);
}

/// Holds for any order of chosen columns.
TEST(Csv, TheTimeIsTheFirstColumnOfDates) {
  const std::string text = "u,a,t\n2016-07-02,1,2016-07-01\n";
  EXPECT_EQ(parse(text).time, 0u);
  EXPECT_THAT(parse(text).more_times, ElementsAre(2));
  EXPECT_EQ(parse(text, {.columns = {"t", "u"}}).time, 1u);
  EXPECT_EQ(parse(text, {.time = "t"}).time, 2u);
  EXPECT_THAT(parse(text, {.time = "t"}).more_times, ElementsAre(0));
  EXPECT_EQ(parse(text, {.named_columns = {"u"}}).time, 1u);
  EXPECT_EQ(written(parse(text)), "u,a,t\n2016-07-02 00:00:00,1,2016-07-01 00:00:00\n");
}

TEST(Csv, RefusesIntegersThatNoDoubleEquals) {
  EXPECT_THAT(numbers(parse("9007199254740992,-18014398509481984,9007199254740993.5\n")),
              ElementsAre(9007199254740992, -18014398509481984, 9007199254740993.5));
  for (const char* integer : {"9007199254740993", "-9007199254740993", "1212121212121212121",
                              "0009007199254740993", "+9007199254740993"})
    EXPECT_EQ(problem("a,b\n1,2\n1," + std::string(integer) + "\n"),
              "a.csv:3:3: column \"b\": \"" + std::string(integer) +
                  "\" has no exact double; store such numbers in two columns");
  EXPECT_THAT(problem("a;b\n0,5;1\n1,5;9.007.199.254.740.993\n"), HasSubstr("no exact double"));
  const NamedArray ids = parse("id\n1212121212121212121\n1212121212121212122\n", {.texts = {"id"}});
  EXPECT_EQ(ids.texts.at(0).size(), 2u);
}

TEST(Csv, NamesThePlaceOfABadTimeStamp) {
  EXPECT_EQ(problem("t,x\n2016-07-01,1\n2016-02-30,1\n"),
            "a.csv:3:1: column \"t\": \"2016-02-30\" is neither a number nor a time such as "
            "2016-07-01 00:00:00");
  EXPECT_THAT(problem("t\n2016-07-01\n5\n"), StartsWith("a.csv:3:1: column \"t\": \"5\" is"));
  EXPECT_THAT(problem("t\n1.13.\n", {.time = "t", .time_format = "%d.%m."}),
              HasSubstr("is not a time in the given format"));
  for (const char* policy : {"nan", "mean"})
    EXPECT_EQ(problem("x,t\n1,NA\n2,\n3,2016-07-01\n", {.missing = policy}),
              "a.csv:2:3: column \"t\": \"NA\" is not a time stamp; none may be missing");
  EXPECT_THAT(problem("t,x\n2016-07-01,1\n,1\n", {.missing = "forward"}),
              StartsWith("a.csv:3:1: column \"t\": \"\" is not a time stamp"));
  EXPECT_THAT(problem("t,x\n1,2\n", {.columns = {"x"}, .time = "t"}), HasSubstr("not among"));
  EXPECT_THROW(parse("t\n1\n", {.time_format = "%k"}), std::invalid_argument);
}

TEST(Csv, FillsMissingValuesAsAsked) {
  const std::string text = "a,b\n1,2\nNA,4\n5,\nnan,N/A\n";
  const auto filled = [&](const char* policy) { return numbers(parse(text, {.missing = policy})); };
  EXPECT_EQ(problem(text),
            "a.csv:3:1: column \"a\": \"NA\" is a missing value; choose what becomes of it: nan, "
            "forward or mean");
  EXPECT_THAT(filled("forward"), ElementsAre(1, 2, 1, 4, 5, 4, 5, 4));
  EXPECT_THAT(filled("mean"), ElementsAre(1, 2, 3, 4, 5, 3, 3, 3));
  EXPECT_THAT(numbers(parse("a\n1e308\n1e308\nNA\n", {.missing = "mean"})),
              ElementsAre(1e308, 1e308, 1e308));
  EXPECT_THAT(filled("nan"), ElementsAre(1, 2, testing::IsNan(), 4, 5, testing::IsNan(),
                                         testing::IsNan(), testing::IsNan()));
  EXPECT_THAT(problem("a,b\n1,\n", {.missing = "forward"}), StartsWith("a.csv:2:3: "));
  EXPECT_THAT(problem("a,b\n1,\n", {.missing = "mean"}), HasSubstr("column 2 has no values"));
  EXPECT_THROW(parse(text, {.missing = "guess"}), std::invalid_argument);
}

TEST(Csv, BlankLinesAreMissingOnlyWhereARowHasOneField) {
  EXPECT_THAT(numbers(parse("\n1,2\n\n3,4\n\n")), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(numbers(parse("1\n\n3\n", {.missing = "forward"})), ElementsAre(1, 1, 3));
}

TEST(Csv, ChosenColumnsWithoutNamesKeepTheirNumbers) {
  const std::string text = "2024-01-01,5,7\n2024-01-02,6,8\n";
  const NamedArray third = parse(text, {.columns = {"3"}, .adds_time = true});
  EXPECT_THAT(third.columns, ElementsAre("3", "1"));
  EXPECT_EQ(third.values(0, require_column(third, "3")), 7);
  EXPECT_THAT(parse(text).columns, testing::IsEmpty());
}

TEST(Csv, SkipsCommentsBeforeTheTable) {
  for (const char* before : {"# a comment, of two\n#\n", "sep=,\n", "\xef\xbb\xbf# b\n"}) {
    const NamedArray table = parse(before + std::string("time,x\n2024-01-01,5\n"));
    EXPECT_THAT(table.columns, ElementsAre("time", "x")) << before;
    EXPECT_EQ(table.values(0, 1), 5);
  }
  EXPECT_THAT(parse("# made at noon\n# x y\n1 2\n3 4\n").columns, ElementsAre("x", "y"));
  EXPECT_THAT(parse("#,x\n1,2\n").columns, ElementsAre("#", "x"));
  EXPECT_THAT(problem("# one\nx,y\n1,2\n3\n"), HasSubstr("a.csv:4:1: has 1 field"));
}

TEST(Csv, ReadsAlignedColumnsAndOldLineEnds) {
  const NamedArray table = parse("time        x    y\n2024-01-01  5   17  \n2024-01-02 15    7\n");
  EXPECT_THAT(table.columns, ElementsAre("time", "x", "y"));
  EXPECT_THAT(numbers(table), ElementsAre(1704067200, 5, 17, 1704153600, 15, 7));
  EXPECT_THAT(numbers(parse("x,y\r1,2\r3,4\r")), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(parse("John Smith\nAda Lovelace\n", {.texts = {"1"}, .labels = {"1"}}).columns.size(),
              1u);
}

TEST(Csv, JoinsThePartsOfATime) {
  const CsvOptions months{.time = "year", .time_parts = {"month"}, .time_format = "%Y %m"};
  EXPECT_THAT(numbers(parse("year,month,x\n2024,01,5\n2024.0,2.0,6\n", {.columns = {"year", "x"},
                                                                        .time = "year",
                                                                        .time_parts = {"month"},
                                                                        .time_format = "%Y %m"})),
              ElementsAre(1704067200, 5, 1706745600, 6));
  EXPECT_THAT(problem("year,month,x\n2024,13,5\n", months), HasSubstr("\"2024 13\" is not a time"));
  EXPECT_THAT(problem("year,x\n2024,13\n", months), HasSubstr("no column \"month\""));
}

TEST(Csv, NamesLineAndColumnOfWhatIsWrong) {
  EXPECT_EQ(problem("a,b\n1,2\n3\n"), "a.csv:3:1: has 1 field; the first row has 2");
  EXPECT_THAT(problem("a,b\n1,2,3\n"), StartsWith("a.csv:2:1: has 3 fields"));
  EXPECT_EQ(problem("a,b\n1,12.3.4\n1,2\n"),
            "a.csv:2:3: column \"b\": \"12.3.4\" is neither a number nor a time such as "
            "2016-07-01 00:00:00");
  EXPECT_EQ(problem("a,b\n1,1\n1,x\n"), "a.csv:3:3: column \"b\": \"x\" is not a finite number");
  for (const char* bad : {"inf", "-inf", "1e999", "0x10", "+-1", "1 2", "--1", "nan(1)"})
    EXPECT_NE(problem("a;b\n1;1\n2;" + std::string(bad) + "\n", {.delimiter = ";"}), "") << bad;
  EXPECT_THAT(problem("a,b\n\"1\n\",2\n1,\"x\n"), StartsWith("a.csv:2:1: "));
  EXPECT_EQ(problem("a,b\n1,\"2\n3,4\n"), "a.csv:2:3: this quote is not closed");
  EXPECT_THAT(problem("a,b\n1,\"2\"3\n"), StartsWith("a.csv:2:6: expected a delimiter"));
  EXPECT_THAT(problem("a,b\n1,2\"\n"), StartsWith("a.csv:2:4: a quote inside a field"));
  EXPECT_THAT(problem("a,b,a\n1,2,3\n"),
              StartsWith("a.csv:1:5: the column name \"a\" is repeated"));
}

TEST(Csv, RefusesARowThatTakesAllMemory) {
  const std::string commas(most_csv_fields, ',');
  EXPECT_THAT(problem("1\n" + commas + "\n"), HasSubstr("has more than 262144 fields"));
  EXPECT_EQ(parse(commas.substr(1) + "\n", {.missing = "nan"}).values.shape(1), most_csv_fields);
}

TEST(Csv, RefusesTablesWithoutRows) {
  for (const char* empty : {"", "\n\n", "\xef\xbb\xbf", "\r\n"})
    EXPECT_EQ(problem(empty), "a.csv: is empty; it must hold rows of numbers");
  EXPECT_EQ(problem("a,b\n"), "a.csv: has a header and no rows of numbers");
}

TEST(Csv, MessagesAreOneLineWhateverTheField) {
  const std::string message = problem("a\n1\n\"x\ny\033" + std::string(1000, 'z') + "\"\n");
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_THAT(message, HasSubstr("\"x\\x0ay\\x1bzz"));
  EXPECT_LT(message.size(), 120u);
}

TEST(Csv, WritesWhatItReadsToTheLastBit) {
  const double third = 1.0 / 3, tiny = std::numeric_limits<double>::denorm_min();
  NamedArray table{{{third, -tiny}, {1e300, 1467331200.1}}, {"a,b", "c\"d"}};
  const std::string text = written(table);
  EXPECT_THAT(text, StartsWith("\"a,b\",\"c\"\"d\"\n0.3333333333333333,-5e-324\n"));
  const NamedArray again = parse(text);
  EXPECT_EQ(again.columns, table.columns);
  EXPECT_EQ(std::memcmp(again.values.data(), table.values.data(), 4 * sizeof(double)), 0);
  EXPECT_EQ(written({xt::xarray<double>{1, 2}, {}}), "1\n2\n");
  EXPECT_EQ(written({xt::xarray<double>{{1, std::nan("")}}, {}}), "1,nan\n");
  EXPECT_THROW(written({xt::xarray<double>::from_shape({1, 1, 1}), {}}), std::invalid_argument);
}

TEST(Csv, WritesTimesAsDates) {
  const std::string text = "when,x\n2016-07-01 00:00:00,1\n2016-07-01 01:00:00.25,2\n";
  EXPECT_EQ(written(parse(text)), text);
}

TEST(Csv, WritesTimesWithTheirOffsets) {
  const std::string text = "when,x\n2016-10-29 00:00:00+02:00,1\n2016-10-31 00:00:00+01:00,2\n";
  EXPECT_EQ(written(parse(text)), text);
  EXPECT_EQ(written(parse("when,x\n2016-07-01T02:30-09:30,1\n")),
            "when,x\n2016-07-01 02:30:00-09:30,1\n");
  EXPECT_EQ(written(parse("when,x\n2016-07-01T02:00Z,1\n")), "when,x\n2016-07-01 02:00:00,1\n");
  EXPECT_TRUE(parse("when,x\n2016-07-01T02:00+02:00,1\n2016-07-02,2\n").offsets.empty())
      << "not all say theirs";
}

/// Unless the dates have another format.
TEST(Csv, ReadsDatesInTheFormatThatWasLearned) {
  CsvOptions options{.learned_time = "when", .learned_format = "%d/%m/%Y"};
  options.named_columns = {"x"};
  const auto second = [&](const std::string& rows) {
    const NamedArray table = parse("when,x\n" + rows, options);
    return format_time(table.values(1, table.time.value())).substr(0, 10);
  };
  EXPECT_EQ(second("01/02/2024,1\n02/02/2024,2\n"), "2024-02-02");
  EXPECT_EQ(second("02/01/2024,1\n02/13/2024,2\n"), "2024-02-13");
  EXPECT_EQ(second("2024-02-01,1\n2024-02-02,2\n"), "2024-02-02");
  EXPECT_THAT(problem("when,x\nW01,1\n", options), HasSubstr("\"W01\" is neither a number nor a"));
  EXPECT_FALSE(parse("on,x\nW01,1\n", options).time) << "no such column";
}

TEST(Csv, ReadsFiles) {
  const TemporaryFolder folder;
  EXPECT_THAT(numbers(read_csv(folder.write("t.csv", "a\n5\n"))), ElementsAre(5));
  EXPECT_THROW(read_csv(folder.path() / "none.csv"), IoError);
  const std::string message =
      message_of<DataError>([&] { read_csv(folder.write("bad.csv", "a\n1\nx\n")); });
  EXPECT_THAT(message, HasSubstr("bad.csv:3:1: "));
}

/// NA is the region North America among others; only an empty field is missing.
TEST(Csv, NaAmongNamesIsOne) {
  const CsvOptions names{.texts = {"region"}, .labels = {"region"}, .missing = "nan"};
  const auto texts = [&](const std::string& rows) {
    return parse("x,region\n" + rows, names).texts;
  };
  EXPECT_THAT(texts("1,NA\n2,EU\n3,NA\n").at(1), ElementsAre("NA", "EU"));
  EXPECT_THAT(numbers(parse("x,region\n1,NA\n2,EU\n3,NA\n", names)), ElementsAre(1, 0, 2, 1, 3, 0));
  const NamedArray numbered = parse("x,region\n1,NA\n2,7\n3,\n", names);
  EXPECT_TRUE(std::isnan(numbered.values(0, 1)) && std::isnan(numbered.values(2, 1)));
  EXPECT_THAT(texts("1,NA\n2,NA\n").at(1), ElementsAre("NA"));
  EXPECT_TRUE(std::isnan(parse("x,region\n1,EU\n2,\n", names).values(1, 1)));
  EXPECT_THAT(parse("t,type\n1,NA\n2,buy\n", {.texts = {"type"}}).texts.at(1),
              ElementsAre("NA", "buy"));
  EXPECT_TRUE(
      std::isnan(parse("x,sky\n1,NA\n2,sun\n", {.texts = {"sky"}, .missing = "nan"}).values(0, 1)));
}

TEST(Csv, KnowsNeighboursThatDoublesDoNotTellApart) {
  const auto merged = [](const std::string& column) { return parse("x,t\n" + column).merged; };
  const std::map<std::size_t, std::vector<std::size_t>> second{{1, {1, 2}}};
  EXPECT_EQ(merged("1,1700000000.000000001\n1,1700000000.000000002\n1,1700000000.00000001\n"),
            second);
  EXPECT_EQ(merged("1,2023-01-01T00:00:00.000000000\n1,2023-01-01T00:00:00.000000001\n"
                   "1,2023-01-01T00:00:00.000000002\n"),
            second);
  for (const char* same :
       {"1,1700000000.000000001\n1,1700000000.000000001\n", "1,0.10000000000000001\n1,0.1\n",
        "1,1700000000.0000000\n1,1700000000.000000\n", "1,1700000000.000001\n1,1700000000.000002\n",
        "1,2023-10-29T02:30:00+02:00\n1,2023-10-29T01:30:00+01:00\n"})
    EXPECT_TRUE(merged(same).empty()) << same;
}

/// With and without a header, by name and by number.
TEST(Csv, AddsTheTimeToChosenColumns) {
  for (const char* text : {"ds,y,z\n2024-01-01,1,2\n", "2024-01-01,1,2\n"}) {
    const NamedArray table = parse(text, {.columns = {"2"}, .adds_time = true});
    EXPECT_EQ(table.time, 1u) << text;
    EXPECT_THAT(numbers(table), ElementsAre(1, 1704067200));
    EXPECT_FALSE(parse(text, {.columns = {"2"}}).time);
    EXPECT_EQ(parse(text, {.columns = {"1", "2"}, .adds_time = true}).time, 0u);
    EXPECT_EQ(parse(text, {.adds_time = true}).time, 0u);
  }
  const CsvOptions either{.columns = {"y"}, .adds_time = true};
  EXPECT_THAT(problem("note,ds,y\nx,01/02/2024,2\nx,02/02/2024,3\n", either),
              StartsWith("a.csv:2:3: column \"ds\": \"01/02/2024\" may be a time as %d/%m/%Y or"));
  EXPECT_NO_THROW(parse("ds,y\n01/02/2024,2\n", {.columns = {"y"}}));
  EXPECT_THAT(problem("s,y\n1700000000,2\n", {.time = "s"}),
              HasSubstr("is a number, not a date: set data.time_format"));
  const CsvOptions seconds{.columns = {"y"}, .adds_time = true, .time = "s", .time_format = "%s"};
  EXPECT_THAT(numbers(parse("s,y\n1700000000,2\n", seconds)), ElementsAre(2, 1700000000));
}

TEST(Csv, KeepsMissingNumbersButNoMissingTimesOrTexts) {
  const CsvOptions options{.texts = {"who"}, .keeps_missing_numbers = true};
  const NamedArray table = parse("day,y,who\n2024-01-01,1,NA\n2024-01-02,,b\n", options);
  EXPECT_TRUE(std::isnan(table.values(1, 1)));
  EXPECT_THAT(table.texts.at(2), ElementsAre("NA", "b"));
  EXPECT_THAT(problem("day,y,who\n2024-01-01,1,\n", options), HasSubstr("is a missing value"));
  EXPECT_THAT(problem("day,y,who\n2024-01-01,1,a\n,1,a\n", options), HasSubstr("none may be"));
}

/// Numbers are dates only if all are from 1990 to 2100.
TEST(Csv, WritesNumericTimesAsNumbers) {
  const auto again = [](const std::string& text, const char* format) {
    return written(parse(text, {.time = "t", .time_format = format}));
  };
  for (const char* text : {"t,x\n0.25,1\n0.75,2\n", "t,x\n44927,1\n44928,2\n",
                           "t,x\n-5,1\n1700000000,2\n", "t,x\n1700000000,1\n5000000000,2\n"})
    EXPECT_EQ(again(text, "%s"), text);
  EXPECT_EQ(again("t,x\n1700000000,1\n1700000060,2\n", "%s"),
            "t,x\n2023-11-14 22:13:20,1\n2023-11-14 22:14:20,2\n");
  for (const char* text : {"t,x\n3,1\n7.001,2\n", "t,x\n100000000003,1\n100000000007,2\n"})
    EXPECT_EQ(again(text, "%Q"), text);
  EXPECT_EQ(again("t,x\n1700000000250,1\n", "%Q"), "t,x\n2023-11-14 22:13:20.25,1\n");
  EXPECT_EQ(again("t,x\n1960,1\n1961,2\n", "%Y"),
            "t,x\n1960-01-01 00:00:00,1\n1961-01-01 00:00:00,2\n");
}

TEST(Csv, WritesNoDatesBesideNumbers) {
  const NamedArray table{xt::xarray<double>{{86400, 1}, {253402300800, 2}}, {"day", "x"}, 0};
  EXPECT_EQ(written(table), "day,x\n86400,1\n253402300800,2\n");
  NamedArray east = table;
  east.values(1, 0) = 253402300799, east.offsets = {3600, 3600};
  EXPECT_EQ(written(east), "day,x\n86400,1\n253402300799,2\n");
  east.offsets = {};
  EXPECT_EQ(written(east), "day,x\n1970-01-02 00:00:00,1\n9999-12-31 23:59:59,2\n");
}

}  // namespace csv_test
}  // namespace bochner
