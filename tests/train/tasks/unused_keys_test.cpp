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
  EXPECT_EQ(error_after_files(length),
            "bad.toml:2:22: model.patch.length = 4: needs patches of a series: model.backbone = "
            "\"attention\", or model.kind = \"vae\" or \"contrastive\"");
  EXPECT_THAT(error_after_files(forecaster + length), HasSubstr("needs patches of a series"));
  EXPECT_THAT(error_after_files(forecaster + stride), HasSubstr("needs patches of a series"));
  EXPECT_THAT(error_after_files(latent + series + stride),
              EndsWith("model.kind = \"contrastive\""));
  EXPECT_THAT(
      error_after_files(attention + pixels),
      EndsWith("model.patch.pixels = 4: needs patches of images: model.kind = \"field\", or "
               "\"vae\" or \"contrastive\" of images or shapes"));
  EXPECT_THAT(error_in("model.kind = \"classifier\"\n" + shapes + pixels),
              HasSubstr("needs patches of images"));
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
            "bad.toml:2:27: optim.density_lr_factor = 3.0: needs a feature map with frequencies, a "
            "time kernel or filter \"spectral\", or model.mixer.normalize = \"l2\": no other "
            "density is among them, see optim.groups");
  for (const char* unlearned :
       {"{ kind = \"linear\", features = \"relu\" }", "{ time_kernel = \"decay\" }",
        "{ kind = \"hyena\" }", "{ kind = \"ssm\" }"})
    EXPECT_THAT(error_after_files(rate + "model.mixer = " + unlearned + "\n"),
                HasSubstr("needs a feature map with frequencies"))
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
  for (const char* key : {"optim.kind = \"natural\"", "optim.density_natural = true",
                          "optim.density_lr_factor = 3.0"}) {
    EXPECT_THAT(error_after_files(process + key),
                EndsWith(std::string(key) + ": is of blocks, and a Gaussian process has none"));
    EXPECT_THAT(error_after_files(forecaster + key),
                EndsWith(": needs model.backbone = \"attention\" or \"rows\""));
  }
  EXPECT_EQ(error_after_files("optim.kind = \"natural\"\n"), "");
}

/// A column has one rule, which says what the kind has in its place.
TEST(UnheededKeys, ColumnsOfOtherData) {
  const std::string columns = "data.columns = [\"a\"]\n";
  EXPECT_EQ(error_after_files(process + columns),
            "bad.toml:5:16: data.columns = [\"a\"]: is not for a table: name data.inputs and "
            "data.target");
  EXPECT_EQ(error_after_files(columns),
            "bad.toml:2:16: data.columns = [\"a\"]: needs data.kind = \"series\" or \"sensors\"");
  EXPECT_EQ(error_after_files(forecaster + columns), "");
}

}  // namespace unheeded_keys_test
}  // namespace bochner
