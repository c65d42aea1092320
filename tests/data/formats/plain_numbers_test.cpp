#include <gtest/gtest.h>

#include <bochner/data/formats/plain_numbers.hpp>

namespace bochner {
namespace plain_numbers_test {

TEST(PlainNumbers, HaveNoSymbols) {
  const std::pair<const char*, const char*> texts[] = {
      {"1'000.50 €", "1000.50"}, {"50.7%", "50.7"}, {"12 %", "12"},      {"−3", "-3"},
      {"(12)", "-12"},           {"12-", "-12"},    {"€12", "12"},       {"€ 2 566,50", "2 566,50"},
      {"$1,234.5", "1,234.5"},   {"₹ 5", "5"},      {"12\u00a0%", "12"}, {"1’234", "1234"}};
  for (const auto& [text, plain] : texts) {
    EXPECT_EQ(plain_number(text), plain);
    EXPECT_TRUE(is_formatted_number(text)) << text;
    EXPECT_EQ(unit_of(text), "") << text;
  }
  for (const char* other : {"12", "-1.5", "2 566", "x", "12 kWh", "A1", "%", "", "-"})
    EXPECT_FALSE(is_formatted_number(other)) << other;
}

TEST(PlainNumbers, HaveNoUnits) {
  const char* texts[][3] = {{"256.6 kWh", "256.6", "kWh"},  {"12 EUR", "12", "EUR"},
                            {"EUR 12.5", "12.5", "EUR"},    {"Rs. 5", "5", "Rs."},
                            {"1.2k", "1200", "k"},          {"3.4 M", "3400000", "M"},
                            {"1,5bn", "1.5e+09", "bn"},     {"5 m3", "5", "m3"},
                            {"12 °C", "12", "°C"},          {"5 kg/m²", "5", "kg/m²"},
                            {"256\u00a0kWh", "256", "kWh"}, {"-5.5 W", "-5.5", "W"},
                            {"2 566 kWh", "2 566", "kWh"}};
  for (const auto& [text, plain, unit] : texts) {
    EXPECT_EQ(plain_number(text), plain);
    EXPECT_EQ(unit_of(text), unit);
    EXPECT_FALSE(is_formatted_number(text)) << text;
  }
  for (const char* other : {"12", "K7", "item 5", "INV1001", "10:30", "2024-01-01", "5 of 9", "",
                            "kWh", "1.2.3", "2018-W05", "12, 13", "inf", "nan"})
    EXPECT_EQ(unit_of(other), "") << other;
  EXPECT_TRUE(is_multiple("k") && !is_multiple("kWh"));
}

}  // namespace plain_numbers_test
}  // namespace bochner
