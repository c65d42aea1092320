#include <gmock/gmock.h>

#include <train/config_text.hpp>

namespace bochner {
namespace unheeded_keys_test {

using testing::EndsWith;
using testing::HasSubstr;

const std::string forecaster = "model.kind = \"forecaster\"\ndata.kind = \"series\"\n",
                  attention = forecaster + "model.backbone = \"attention\"\n",
                  process = "model.kind = \"gp\"\ndata.kind = \"table\"\ntrain.batch = 1\n",
                  latent = "model.kind = \"vae\"\n", contrastive = "model.kind = \"contrastive\"\n",
                  series = "data.kind = \"series\"\n", shapes = "data.kind = \"shapes\"\n";

TEST(UnheededKeys, PatchesOfModelsThatHaveNone) {
  const std::string length = "model.patch.length = 4\n", stride = "model.patch.stride = 4\n",
                    pixels = "model.patch.pixels = 4\n";
  EXPECT_EQ(
      error_after_files(length),
      "bad.toml:2:22: model.patch.length has no effect with model.kind = \"lm\" and data.kind "
      "= \"bytes\"; remove it");
  const auto unused = HasSubstr(
      " has no effect with model.backbone = \"linear\" and data.kind = \"series\" and model.kind = "
      "\"forecaster\"; remove it");
  EXPECT_THAT(error_after_files(forecaster + length), unused);
  EXPECT_THAT(error_after_files(forecaster + stride), unused);
  EXPECT_THAT(error_after_files(latent + series + stride),
              EndsWith("model.patch.stride has no effect with model.kind = \"vae\" and data.kind = "
                       "\"series\"; remove it"));
  EXPECT_THAT(error_after_files(attention + pixels),
              EndsWith("model.patch.pixels has no effect with model.kind = \"forecaster\" and "
                       "data.kind = \"series\"; remove it"));
  EXPECT_THAT(error_in("model.kind = \"classifier\"\n" + shapes + pixels),
              EndsWith("has no effect with model.kind = \"classifier\"; remove it"));
  for (const std::string& heeded :
       {attention + length + stride, latent + series + length, latent + shapes + pixels,
        contrastive + series + length + stride, contrastive + shapes + pixels})
    EXPECT_EQ(error_after_files(heeded), "") << heeded;
  EXPECT_EQ(error_in("model.kind = \"field\"\ndata.kind = \"moving_pattern\"\n" + pixels), "");
}

TEST(UnheededKeys, PatchesOfAFileForAnotherModel) {
  const std::string patches = "model.patch = { length = 4, stride = 4, pixels = 7 }\n";
  EXPECT_EQ(error_after_files(attention + "model.patch.stride = 4\n", {"model.backbone=linear"}),
            "");
  EXPECT_EQ(error_after_files(contrastive + series + "model.patch.stride = 4\n",
                              {"model.kind=forecaster"}),
            "");
  EXPECT_EQ(error_after_files(latent + shapes + "model.patch.pixels = 7\n", {"data.kind=series"}),
            "");
  EXPECT_NO_THROW(validate(stored_config("data.files = [\"a\"]\n" + patches, "run")));
}

TEST(UnheededKeys, TheRateOfDensitiesThatAreNotLearned) {
  const std::string rate = "optim.density_lr_factor = 3\n";
  EXPECT_EQ(error_after_files(rate),
            "bad.toml:2:27: optim.density_lr_factor has no effect with model.mixer.kind = "
            "\"softmax\" and model.mixer.time_kernel.kind = \"none\" and model.mixer.normalize = "
            "\"none\"; remove it");
  for (const char* unlearned :
       {"{ kind = \"linear\", features = \"relu\" }", "{ time_kernel = \"decay\" }",
        "{ kind = \"hyena\" }", "{ kind = \"ssm\" }"})
    EXPECT_THAT(error_after_files(rate + "model.mixer = " + unlearned + "\n"),
                HasSubstr("optim.density_lr_factor has no effect with model.mixer."))
        << unlearned;
  for (const char* learned :
       {"{ kind = \"linear\" }", "{ normalize = \"l2\" }",
        "{ kind = \"linear\", time_kernel = \"spectral\", features = \"relu\" }",
        "{ kind = \"hyena\", filter = \"spectral\" }",
        "{ kind = \"linear\", features = { kind = \"hybrid\", estimators = [\"positive\", "
        "\"elu\"] } }"})
    EXPECT_EQ(error_after_files(rate + "model.mixer = " + learned + "\n"), "") << learned;
  const std::string linear = "model.mixer.kind = \"linear\"\n";
  EXPECT_EQ(error_after_files(rate + linear, {"model.mixer.kind=softmax"}), "");
  EXPECT_EQ(error_after_files(rate + linear, {"model.mixer.features=relu"}), "");
  EXPECT_NO_THROW(validate(stored_config("data.files = [\"a\"]\n" + rate, "run")));
}

TEST(UnheededKeys, OptimizersOfDensitiesWhereThereAreNoBlocks) {
  for (const std::string& none : {process, forecaster})
    EXPECT_THAT(error_after_files(none + "optim.kind = \"natural\""),
                EndsWith("optim.kind = \"natural\": needs a model with blocks"));
  for (const char* key : {"optim.density_natural = true", "optim.density_lr_factor = 3.0"}) {
    EXPECT_THAT(error_after_files(process + key),
                EndsWith(" has no effect with model.kind = \"gp\"; remove it"));
    EXPECT_THAT(error_after_files(forecaster + key),
                EndsWith(" has no effect with model.backbone = \"linear\" and model.kind = "
                         "\"forecaster\"; remove it"));
  }
  EXPECT_EQ(error_after_files("optim.kind = \"natural\"\n"), "");
}

TEST(UnheededKeys, ColumnsOfOtherData) {
  const std::string columns = "data.columns = [\"a\"]\n";
  EXPECT_EQ(error_after_files(process + columns),
            "bad.toml:5:16: data.columns has no effect with data.kind = \"table\"; remove it");
  EXPECT_EQ(error_after_files(columns),
            "bad.toml:2:16: data.columns has no effect with data.kind = \"bytes\"; remove it");
  EXPECT_EQ(error_after_files(forecaster + columns), "");
}

}  // namespace unheeded_keys_test
}  // namespace bochner
