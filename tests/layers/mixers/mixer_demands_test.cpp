#include <bochner/layers/mixers/mixers.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace mixer_demands_test {

using op_check::error_of;

/// Each key alone is rejected with a remedy.
TEST(MixerDemands, SayWhatToDo) {
  const auto error = [](const std::function<void(MixerSpec&)>& ask) {
    MixerSpec spec;
    spec.kind = "min_gru";
    ask(spec);
    return error_of([&] { require_traits(spec); });
  };
  EXPECT_EQ(error([](MixerSpec&) {}), "no error");
  EXPECT_EQ(error([](MixerSpec& spec) { spec.time_kernel.kind = "gate"; }),
            "[min_gru] does not support time_kernel; set it to \"none\"");
  EXPECT_EQ(error([](MixerSpec& spec) { spec.rotary = true; }),
            "[min_gru] does not rotate queries; positions must not be \"rotary\"");
  EXPECT_EQ(error([](MixerSpec& spec) { spec.normalize = "l2"; }),
            "[min_gru] does not normalize queries; set normalize to \"none\"");
  EXPECT_EQ(error([](MixerSpec& spec) { spec.time.kind = "free"; }),
            "[min_gru] does not support times in queries and keys; set model.time.use = \"add\" or "
            "\"concatenate\"");
  EXPECT_EQ(error([](MixerSpec& spec) { spec.window = 4; }),
            "[min_gru] does not support window; set it to 0");
}

TEST(MixerDemands, NameTheMixersThatTakeAnyTimes) {
  EXPECT_EQ(error_of([] { require_equal_distances(false, "hyena"); }),
            "[hyena] requires tokens at equal distances; use linear or softmax attention, or ssm "
            "with form = \"s5\"");
  EXPECT_EQ(error_of([] { require_equal_distances(true, "hyena"); }), "no error");
}

}  // namespace mixer_demands_test
}  // namespace bochner::inline BOCHNER_PRECISION
