#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/system.hpp>
#include <bochner/train/run/log/live_log.hpp>
#include <bochner/train/storage/json.hpp>
#include <cstring>

#include "data/temporary_folder.hpp"

namespace bochner {
namespace follower_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// The events of a file, whose frames are checked.
std::vector<std::string> events_in(const std::string& bytes) {
  std::vector<std::string> events;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + at, 8);
    events.push_back(bytes.substr(at + 12, size));
    EXPECT_EQ(bytes.substr(at, 16 + size), tf_record(events.back()));
    at += 16 + size;
  }
  return events;
}

struct Follower : testing::Test {
  TemporaryFolder folder;
  PosixStorage storage;

  std::string file(const std::string& name) { return read_file(storage, folder.path() / name); }
  std::vector<std::string> event_files() {
    std::vector<std::string> names = storage.list(folder.path());
    std::erase_if(names, [](const auto& name) { return !name.starts_with(events_prefix); });
    return names;
  }
};

TEST_F(Follower, KeepsTheConsoleAndTheClock) {
  {
    LiveLog live_log(storage, folder.path(), 0, false);
    live_log.console("a line");
    live_log.metrics({{"step", 10}, {"loss", 2.5}}, 1.5);
    live_log.metrics({{"step", 10}, {"valid", 2.25}}, 1.5);
    live_log.metrics({{"step", 20}, {"loss", 2.0}}, 3);
  }
  EXPECT_EQ(file(console_name), "a line\n");
  const std::string clock = file(clock_name);
  EXPECT_THAT(clock, StartsWith("{\"step\":10,\"seconds\":1.5,\"memory\":"));
  EXPECT_THAT(clock, HasSubstr("\n{\"step\":20,\"seconds\":3,\"memory\":"));
  EXPECT_GT(resident_bytes(), 1u << 20);
  EXPECT_TRUE(event_files().empty());
  LiveLog(storage, folder.path(), 15, false).console("resumed");
  EXPECT_EQ(file(console_name), "a line\nresumed\n");
  EXPECT_EQ(file(clock_name), clock.substr(0, clock.find('\n') + 1));
}

TEST_F(Follower, WritesEventsOnRequest) {
  LiveLog live_log(storage, folder.path(), 7, true);
  const Json layer = {{"layer", "blocks.0"}, {"drift", 0.5}};
  live_log.metrics(Json{{"step", 10}, {"valid", 2.25}}.set("kernels", Json::array({layer})), 3);
  ASSERT_EQ(event_files().size(), 1u);
  const std::vector<std::string> events = events_in(file(event_files()[0]));
  ASSERT_EQ(events.size(), 3u);
  EXPECT_THAT(events[0], HasSubstr("brain.Event:2"));
  EXPECT_EQ(events[1].substr(9), start_event(0, 7).substr(9));
  const auto scalars = scalar_event(0, 10, {{"valid", 2.25}, {"kernels/drift/blocks.0", 0.5}});
  EXPECT_EQ(events[2].substr(9), scalars.substr(9));
}

TEST_F(Follower, NeedsNoDisk) {
  LiveLog live_log(storage, folder.path() / "nowhere", 0, true);
  live_log.console("a line");
  live_log.metrics({{"step", 10}, {"loss", 2.5}}, 1.5);
  EXPECT_FALSE(storage.exists(folder.path() / "nowhere"));
}

}  // namespace follower_test
}  // namespace bochner
