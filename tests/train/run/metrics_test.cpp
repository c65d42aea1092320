#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/files/errors.hpp>
#include <bochner/train/run/metrics.hpp>
#include <cmath>

#include "data/temporary_folder.hpp"

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

}  // namespace metrics_test
}  // namespace bochner
