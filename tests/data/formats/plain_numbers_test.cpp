#include <gtest/gtest.h>

#include <bochner/data/formats/plain_numbers.hpp>

#include "data/formats/csv_check.hpp"

namespace bochner {
namespace plain_numbers_test {

using namespace csv_check;

TEST(PlainNumbers, HaveNoUnits) {
  struct Case {
    const char *text, *plain, *unit;
    double number;
  };
  for (const auto& [text, plain, unit, number] :
       std::vector<Case>{{"1'000.50 €", "1000.50", "€", 1000.5},
                         {"50.7%", "50.7", "%", 50.7},
                         {"-12 %", "-12", "%", -12},
                         {"\u22123", "-3", "", -3},
                         {"(12)", "-12", "", -12},
                         {"($12.50)", "-12.50", "$", -12.5},
                         {"12-", "-12", "", -12},
                         {"-$12", "-12", "$", -12},
                         {"€12", "12", "€", 12},
                         {"$1,234.5", "1,234.5", "$", 1234.5},
                         {"12\u00a0%", "12", "%", 12},
                         {"1’234", "1234", "", 1234},
                         {"256.6 kWh", "256.6", "kWh", 256.6},
                         {"EUR 12.5", "12.5", "EUR", 12.5},
                         {"Rs. 5", "5", "Rs.", 5},
                         {"1.2k", "1.2", "k", 1200},
                         {"3.4 M", "3.4", "M", 3.4e6},
                         {"5 m3", "5", "m3", 5},
                         {"-5.5 °C", "-5.5", "°C", -5.5},
                         {"5 kg/m²", "5", "kg/m²", 5},
                         {"2 566 kWh", "2 566", "kWh", 2566}}) {
    EXPECT_EQ(without_unit(text), plain);
    EXPECT_EQ(unit_of(text), unit) << text;
    const auto quantity = parse_quantity(text, CsvDialect());
    ASSERT_TRUE(quantity) << text;
    EXPECT_EQ(quantity->number, number) << text;
  }
  EXPECT_EQ(parse_quantity("1.234,50 €", {.decimal = ','})->number, 1234.5);
}

TEST(PlainNumbers, AreNoOtherTexts) {
  for (const char* other :
       {"K7",      "item 5", "INV1001", "10:30", "2024-01-01", "5 of 9", "",    "-",
        "%",       "()",     "kWh",     "1.2.3", "2018-W05",   "12, 13", "inf", "nan",
        "2011M01", "1981Q2", "1981 Q2", "1 PM",  "5 Jan 2022", "(-5)",   "12%%"}) {
    EXPECT_FALSE(parse_quantity(other, CsvDialect())) << other;
    EXPECT_EQ(without_unit(other), other);
  }
  EXPECT_TRUE(is_multiple("k") && !is_multiple("kWh"));
}

TEST(PlainNumbers, AColumnHasOneUnit) {
  EXPECT_EQ(numbers(parse("x\n1.5 kWh\n0\n2 kWh\n")), (std::vector<double>{1.5, 0, 2}));
  EXPECT_EQ(numbers(parse("x\n900\n1.2k\n3M\n")), (std::vector<double>{900, 1200, 3e6}));
  EXPECT_EQ(numbers(parse("x;y\n\"1,5 %\";1\n\"2,25 %\";2\n")),
            (std::vector<double>{1.5, 1, 2.25, 2}));
  for (const char* text : {"x\n1.5 kWh\n2 MWh\n", "x\n12 %\n0.12\n", "x\n5\n$6\n", "x\n$5\n€6\n"})
    EXPECT_NE(problem(text).find("a.csv:3:1: column \"x\": "), std::string::npos) << text;
}

/// A name such as 24h is no value above numbers without that unit.
TEST(PlainNumbers, NamesMayLookLikeQuantities) {
  EXPECT_EQ(parse("1h,24h\n5,6\n7,8\n").columns, (std::vector<std::string>{"1h", "24h"}));
  EXPECT_TRUE(parse("1h,2h\n5h,6h\n").columns.empty());
}

}  // namespace plain_numbers_test
}  // namespace bochner
