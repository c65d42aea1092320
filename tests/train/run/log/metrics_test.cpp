#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/train/run/log/metrics.hpp>
#include <cmath>

#include "data/temporary_folder.hpp"
#include "faults/crashing_storage.hpp"

namespace bochner {
namespace metrics_test {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(MetricsLog, HoldsCurvesAndKernels) {
  const MetricsLog log = read_metrics(
      R"({"step":1,"loss":2.5,"lr":0.1})"
      "\n"
      R"({"step":2,"valid":2.0,"lr":null,"kernels":[{"layer":"a","error":0.5,"drift":null,)"
      R"("heads":{"rank":[3,null]}}]})"
      "\n"
      R"({"step":3,"lo)",
      "m");
  EXPECT_THAT(log.curves.at("loss").y, ElementsAre(2.5));
  EXPECT_THAT(log.curves.at("valid").x, ElementsAre(2));
  EXPECT_THAT(log.kernels.at("error").at("a").y, ElementsAre(0.5));
  EXPECT_EQ(log.curves.at("lr").y.size(), 1u) << "null is a missing number";
  EXPECT_FALSE(log.kernels.contains("drift"));
  EXPECT_EQ(log.heads.at("rank").at("a").at(0), 3);
  EXPECT_TRUE(std::isnan(log.heads.at("rank").at("a").at(1)));
  for (const char* bad : {"x\n", "[]\n", "{}\n", "{\"step\":\"1\"}\n", "\n"})
    EXPECT_THAT(message_of<DataError>([&] { read_metrics(bad, "m"); }), HasSubstr("m:1: ")) << bad;
}

TEST(MetricsDigests, AreAsManyAsLinesAndNeverMoreThanAThousand) {
  std::vector<std::uint32_t> lines(1000, 7);
  EXPECT_EQ(bounded(lines).values, lines);
  EXPECT_EQ(bounded(lines).lines, 1u);
  lines.push_back(8);
  EXPECT_EQ(bounded(lines).values.size(), 501u);
  lines.resize(1000000);
  EXPECT_LE(bounded(lines).values.size(), 1000u);
  EXPECT_EQ(bounded(lines).lines, 1024u);
  EXPECT_EQ(bounded({}).values.size(), 0u);
}

TEST(MetricsDigests, NameTheBlockOfAChangedLine) {
  faults::CrashingStorage storage;
  MetricsFile metrics(storage, "metrics.jsonl");
  std::string text;
  for (int line = 1000; line < 3500; ++line) text += std::to_string(line) + "\n";
  text.pop_back();
  metrics.append(text);
  const LineDigests written = bounded(metrics.digests());
  EXPECT_EQ(written.lines, 4u);
  EXPECT_EQ(metrics.rewind(metrics.bytes(), written), "");
  EXPECT_EQ(metrics.digests().size(), 2500u);
  for (const int damaged : {0, 17, 2499}) {
    std::string& bytes = storage.bytes_of("metrics.jsonl");
    bytes[std::size_t(5 * damaged + 2)] ^= 1;
    const int first = damaged / 4 * 4 + 1;
    EXPECT_EQ(message_of<DataError>([&] { metrics.rewind(bytes.size(), written); }),
              "metrics.jsonl:" + std::to_string(first) + ": one of the lines up to " +
                  std::to_string(first + 3) +
                  " differs from what was written; put the file back, or fork a new run from the "
                  "checkpoint");
    bytes[std::size_t(5 * damaged + 2)] ^= 1;
  }
  EXPECT_THROW(metrics.rewind(metrics.bytes() - 5, written), DataError) << "a line is missing";
}

/// Lines that wait follow what is cut: they are none of those in front of the damage.
TEST(MetricsFile, SaysWhichLineWasDamaged) {
  faults::CrashingStorage storage;
  MetricsFile metrics(storage, "metrics.jsonl");
  metrics.append(R"({"step":1})");
  const std::uint64_t bytes = metrics.bytes();
  storage.bytes_of("metrics.jsonl") += "{\"step\":2}\ndamage\n";
  EXPECT_EQ(metrics.rewind(bytes, bounded(metrics.digests()), "{\"step\":2}\n{\"step\":3}\n"),
            "metrics.jsonl:3: was damaged; it was cut and will be written again");
  EXPECT_EQ(metrics.digests().size(), 3u);
}

/// An editor writes a new file under the name; the lines are those of this one still.
TEST(MetricsFile, WritesItsLinesAgainWhereTheNameLeadsElsewhere) {
  faults::CrashingStorage storage;
  MetricsFile metrics(storage, "metrics.jsonl");
  metrics.append("1");
  for (const bool removed : {true, false}) {
    storage.unlink("metrics.jsonl");
    if (!removed) storage.create_exclusive("metrics.jsonl")->append("foreign", 7);
    metrics.sync();
    EXPECT_EQ(storage.bytes_of("metrics.jsonl"), "1\n") << removed;
  }
  metrics.append("2");
  metrics.sync();
  EXPECT_EQ(storage.bytes_of("metrics.jsonl"), "1\n2\n");
}

TEST(MetricsFile, BearsForeignLinesAndNoneThatAreCut) {
  faults::CrashingStorage storage;
  MetricsFile metrics(storage, "metrics.jsonl");
  metrics.append("1");
  storage.bytes_of("metrics.jsonl") += "foreign";
  metrics.sync();
  metrics.append("2");
  EXPECT_EQ(storage.bytes_of("metrics.jsonl"), "1\n2\n");
  storage.bytes_of("metrics.jsonl").resize(1);
  EXPECT_EQ(
      message_of<DataError>([&] { metrics.sync(); }),
      "metrics.jsonl: has 1 of the 4 bytes that were written: another program has cut it; put it "
      "back, then resume");
}

}  // namespace metrics_test
}  // namespace bochner
