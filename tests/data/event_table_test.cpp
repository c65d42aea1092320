#include <gtest/gtest.h>

#include <bochner/data/event_table.hpp>
#include <bochner/data/files/errors.hpp>

#include "data/messages.hpp"

namespace bochner {
namespace event_table_test {

std::string error_of(const NamedArray& array, const EventColumns& columns = {}) {
  return message_or_none<DataError>([&] { event_tables(array, 3, columns); });
}

TEST(EventTable, FindsItsColumns) {
  const xt::xarray<double> values{{1, 5.5, 7}, {2, 6.5, 7}};
  const EventTable named = event_tables({values, {"type", "time", "other"}}, 3)[0];
  EXPECT_EQ(named.times(0, 1), 6.5);
  EXPECT_EQ(named.types.values, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(event_tables({values, {"a", "b", "c"}, 1}, 3)[0].times(0, 0), 5.5);
  const xt::xarray<double> plain{{0.5, 2}, {0.5, 0}};
  EXPECT_EQ(event_tables({plain, {}}, 3)[0].types.values, (std::vector<std::int32_t>{2, 0}));
}

TEST(EventTable, TellsSequencesApart) {
  const xt::xarray<double> values{{7, 1, 5.5}, {3, 2, 1.5}, {7, 0, 6.5}, {3, 0, 1.5}};
  const NamedArray array{values, {"user", "kind", "at"}};
  const auto tables = event_tables(array, 3, {"at", "kind", "user"});
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].rows, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(tables[1].rows, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(tables[1].types.values, (std::vector<std::int32_t>{2, 0}));
  EXPECT_EQ(event_tables({values, {}}, 3, {"3", "2", "1"})[0].times(0, 1), 6.5);
  EXPECT_EQ(error_of(array, {"at", "kind", "session"}),
            "no column \"session\"; name one that is there, or its number");
  EXPECT_EQ(error_of({values, {}}, {"3", "2", "4"}),
            "no column \"4\"; name one that is there, or its number");
}

TEST(EventTable, NamesTheEventThatIsWrong) {
  const auto with = [](double time, double type) {
    return NamedArray{xt::xarray<double>{{1, 0}, {time, type}}, {}};
  };
  EXPECT_EQ(error_of(with(1, 2)), "");
  EXPECT_EQ(error_of(with(0.5, 2)),
            "row 2: its time is before that of row 1; sort the rows by time");
  EXPECT_EQ(error_of(with(std::nan(""), 2)), "row 2: its time is missing");
  for (const double type : {3.0, -1.0, 0.5, std::nan(""), 1e300})
    EXPECT_EQ(error_of(with(2, type)), "row 2: its type must be a whole number from 0 to 2");
  EXPECT_EQ(error_of({xt::xarray<double>{1, 2, 3}, {}}),
            "events need a table with columns of times and of types");
}

}  // namespace event_table_test
}  // namespace bochner
