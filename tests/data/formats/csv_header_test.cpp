#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/formats/csv.hpp>
#include <cmath>

#include "data/formats/csv_check.hpp"

namespace bochner {
namespace csv_header_test {

using namespace csv_check;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> names(const std::string& text, CsvOptions options = {}) {
  options.missing = "nan";
  return parse(text, options).columns;
}

constexpr const char* unclear = "may name the columns or hold numbers: set data.header (--header)";

TEST(CsvHeader, AnIndexHasNoName) {
  EXPECT_THAT(names(",0\n0,5.1\n1,4.9\n"), ElementsAre("1", "0"));
  EXPECT_THAT(names(",0,1\n0,5,2\n1,4,3\n"), ElementsAre("column 1", "0", "1"));
  EXPECT_THAT(names(",0\n2024-01-01,5.1\n2024-01-02,4.9\n"), ElementsAre("1", "0"));
  EXPECT_THAT(names(",2019,2020\n0,5,2\n1,4,3\n"), ElementsAre("1", "2019", "2020"));
  EXPECT_THAT(names(",7.5,3\na,5,2\nb,4,3\n", {.texts = {"1"}}), ElementsAre("1", "7.5", "3"));
  EXPECT_THAT(names(";0\n0;5,1\n1;4,9\n"), ElementsAre("1", "0"));
  EXPECT_THAT(problem(",2019,2020\n7.5,5,2\n9.5,4,3\n"),
              StartsWith("a.csv:1:1: the first row (\"\", \"2019\", \"2020\") may name the columns "
                         "or hold numbers: set data.header (--header) to \"yes\" or \"no\""));
  EXPECT_THAT(names(",2019,2020\n7.5,5,2\n", {.header = "yes"}), ElementsAre("1", "2019", "2020"));
  EXPECT_THAT(names(",2019,2020\n7.5,5,2\n", {.header = "no"}), IsEmpty());
  EXPECT_THAT(names(",2.5\n7.5,5\n8,9\n"), IsEmpty());
  EXPECT_THAT(names(",9,3\n7.5,5,1\n8,9,1\n"), IsEmpty());
  EXPECT_THAT(names(",,\n7.5,5,1\n"), IsEmpty());
}

TEST(CsvHeader, CountedNamesStandOverOtherKindsOfValues) {
  EXPECT_THAT(names("0,1\n2024-01-01,5\n2024-01-02,7\n"), ElementsAre("0", "1"));
  EXPECT_THAT(names("1,2\n2024-01-01,5\n2024-01-02,7\n"), ElementsAre("1", "2"));
  EXPECT_THAT(names("0,1\na,5\nb,7\n", {.columns = {"2"}}), ElementsAre("1"));
  const std::string iris = "0,1,2,3,4\n5.1,3.5,1.4,0.2,0\n4.9,3.0,1.4,0.2,0\n4.7,3.2,1.3,0.2,1\n";
  EXPECT_THAT(names(iris), ElementsAre("0", "1", "2", "3", "4"));
  EXPECT_THAT(names(iris, {.header = "no"}), IsEmpty());
  EXPECT_THAT(problem("0,1\n0.25,-0.5\n1.25,0.125\n-0.5,-0.75\n"), HasSubstr(unclear));
  EXPECT_THAT(problem("0,1,2\n5,7,9\n3,2,8\n9,1,4\n"), HasSubstr(unclear));
  EXPECT_THAT(problem("0,1\n52,70\n53,72\n56,71\n"), HasSubstr(unclear));
  std::string varied = "0,1\n";
  for (int i = 1; i < 40; ++i)
    varied += std::to_string(i * i % 97) + "," + std::to_string(i * 31 % 89) + "\n";
  EXPECT_THAT(problem(varied), HasSubstr(unclear));
  EXPECT_THAT(problem("0\n20.5\n21.25\n20.75\n"), HasSubstr(unclear));
}

TEST(CsvHeader, RowsThatCountUpAreNumbers) {
  for (const char* rows :
       {"0,1\n0,2\n1,2\n2,0\n", "0,1,2\n3,4,5\n6,7,8\n9,10,11\n", "0,1,2\n1,4,4\n2,9,8\n3,16,16\n",
        "0,1\n0.1,0.995\n0.2,0.98007\n0.3,0.95534\n", "0,1\n0.25,0.75\n0.75,0.5\n2.5,0.125\n",
        "0\n1\n2\n3\n", "0\n1\n", "0\n0.5\n-0.25\n0.125\n", "0,1,2\n0.5,0.25,0.125\n",
        "1,2,3\n0.5,0.25,1.5\n0.25,0.5,0.5\n1.5,0.5,0.25\n", "0,1\n1,0\n1,1\n0,0\n"})
    EXPECT_THAT(names(rows), IsEmpty()) << rows;
}

TEST(CsvHeader, LearnedNamesAreNames) {
  EXPECT_THAT(names("0,1\n0.25,-0.5\n1.25,0.125\n-0.5,-0.75\n", {.named_columns = {"1"}}),
              ElementsAre("1"));
}

/// The first row of a table without a header, in which a mark is a missing value.
TEST(CsvHeader, MissingValuesAreNoNames) {
  EXPECT_THAT(names("1,None\n3,4\n"), IsEmpty());
  EXPECT_THAT(names("-\n3\n"), ElementsAre("-"));
  EXPECT_THAT(names("missing,?\n3,4\n"), ElementsAre("missing", "?"));
}

TEST(CsvHeader, TextsThatRepeatBelowNumbersAreClasses) {
  EXPECT_THAT(names("1.5,a\n2.5,b\n3.5,a\n1,a\n", {.texts = {"2"}}), IsEmpty());
  EXPECT_THAT(names("1.5,a\n2.5,b\n3.5,c\n", {.texts = {"a"}}), ElementsAre("1.5", "a"));
  EXPECT_THAT(names("x,a\n2.5,a\n3.5,a\n", {.texts = {"a"}}), ElementsAre("x", "a"));
}

}  // namespace csv_header_test
}  // namespace bochner
