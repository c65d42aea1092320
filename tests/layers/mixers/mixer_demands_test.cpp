#include <bochner/layers/mixers/mixer_demands.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace mixer_demands_test {

using op_check::error_of;

/// Each is refused by itself, and says what is wanted in its place.
TEST(MixerDemands, SayWhatToDo) {
  const auto error = [](const std::function<void(MixerSpec&)>& ask) {
    MixerSpec spec;
    spec.kind = "min_gru";
    ask(spec);
    return error_of([&] { require_traits(spec); });
  };
  EXPECT_EQ(error([](MixerSpec&) {}), "no error");
  EXPECT_EQ(error([](MixerSpec& spec) { spec.time_kernel.kind = "gate"; }),
            "[min_gru] has a memory of its own, and no time kernel: wants time_kernel = \"none\"");
  const std::string no_queries =
      "[min_gru] has no queries and keys to turn or to norm: wants positions other than \"rotary\" "
      "and normalize = \"none\"";
  EXPECT_EQ(error([](MixerSpec& spec) { spec.rotary = true; }), no_queries);
  EXPECT_EQ(error([](MixerSpec& spec) { spec.normalize = "l2"; }), no_queries);
  EXPECT_EQ(error([](MixerSpec& spec) { spec.time.kind = "free"; }),
            "[min_gru] gives no times to queries and keys: wants model.time.use = \"add\" or "
            "\"concatenate\"");
  EXPECT_EQ(error([](MixerSpec& spec) { spec.window = 4; }),
            "[min_gru] has no window: wants window = 0");
}

TEST(MixerDemands, NameTheMixersThatTakeAnyTimes) {
  EXPECT_EQ(error_of([] { require_equal_distances(false, "hyena"); }),
            "[hyena] needs tokens at equal distances; for others there are linear and softmax "
            "attention, and ssm with form = \"s5\"");
  EXPECT_EQ(error_of([] { require_equal_distances(true, "hyena"); }), "no error");
}

}  // namespace mixer_demands_test
}  // namespace bochner::inline BOCHNER_PRECISION
