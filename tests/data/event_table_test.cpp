#include <gtest/gtest.h>

#include <bochner/data/errors.hpp>
#include <bochner/data/event_table.hpp>

namespace bochner {
namespace {

std::string error_of(const NamedArray& array) {
  try {
    event_table(array, 3);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(EventTable, FindsItsColumns) {
  const xt::xarray<double> values{{1, 5.5, 7}, {2, 6.5, 7}};
  const EventTable named = event_table({values, {"type", "time", "other"}}, 3);
  EXPECT_EQ(named.times(0, 1), 6.5);
  EXPECT_EQ(named.types.values, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(event_table({values, {"a", "b", "c"}, 1}, 3).times(0, 0), 5.5);
  const xt::xarray<double> plain{{0.5, 2}, {0.5, 0}};
  EXPECT_EQ(event_table({plain, {}}, 3).types.values, (std::vector<std::int32_t>{2, 0}));
}

TEST(EventTable, NamesTheEventThatIsWrong) {
  const auto with = [](double time, double type) {
    return NamedArray{xt::xarray<double>{{1, 0}, {time, type}}, {}};
  };
  EXPECT_EQ(error_of(with(1, 2)), "");
  EXPECT_EQ(error_of(with(0.5, 2)), "event 2: its time is before the one above");
  EXPECT_EQ(error_of(with(std::nan(""), 2)), "event 2: its time is missing");
  for (const double type : {3.0, -1.0, 0.5, std::nan(""), 1e300})
    EXPECT_EQ(error_of(with(2, type)), "event 2: its type must be a whole number from 0 to 2");
  EXPECT_EQ(error_of({xt::xarray<double>{1, 2, 3}, {}}),
            "events need a table with columns of times and of types");
}

}  // namespace
}  // namespace bochner
