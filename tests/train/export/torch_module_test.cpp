#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/layers/convolutions/filter.hpp>
#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/train/export/torch_module.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>

#include "train/training_run.hpp"

namespace bochner {
namespace torch_module_test {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

Config with_keys(const std::vector<std::string>& sets) {
  Config config = parse_config(tiny_model, "tiny.toml", registered_parameters());
  for (const std::string& set : sets) apply_set(config, set);
  return config;
}

std::vector<std::string> sources_of(const std::vector<std::string>& sets) {
  std::vector<std::string> names;
  for (const TorchSource& source : torch_sources_of(with_keys(sets)))
    names.emplace_back(source.name);
  return names;
}

/// A new name without a form in PyTorch has to come with one, or be refused on purpose.
TEST(TorchModule, HasAFormForEveryName) {
  const auto forms = torch_forms();
  const auto expect_all = [&](const std::string& role, const std::vector<std::string>& names) {
    for (const std::string& name : names)
      EXPECT_THAT(forms, Contains(std::pair(role, name))) << role << " " << name;
  };
  expect_all("mixer", mixers().names());
  expect_all("features", feature_maps().names());
  expect_all("density", densities().names());
  expect_all("filter", filters().names());
  expect_all("encoding", space_time_encodings().names());
  expect_all("model", {"lm", "classifier", "forecaster", "events", "field", "sensors", "vae",
                       "series_classifier", "regressor"});
  expect_all("backbone", {"linear", "attention", "rows"});
  expect_all("update", {"sum", "delta"});
  for (const std::string& name : projection_names())
    if (name != "density") expect_all("projection", {name});
  for (const std::string& name : feature_weights())
    if (name != "none") expect_all("weights", {name});
  for (const std::string& name : time_encodings().names())
    EXPECT_TRUE(std::ranges::count(forms, std::pair(std::string("time"), name)) +
                std::ranges::count(forms, std::pair(std::string("density"), name)))
        << name;
}

TEST(TorchModule, IsMadeOfWhatAConfigNeeds) {
  const std::vector<std::string> exact = sources_of({"model.mixer.kind=softmax"});
  EXPECT_THAT(exact, IsSupersetOf({"weights", "parts", "blocks", "language_model", "softmax"}));
  for (const char* other : {"linear", "hyena", "gaussian", "random_features", "events"})
    EXPECT_THAT(exact, Not(Contains(other)));
  const std::vector<std::string> flow =
      sources_of({"model.mixer.kind=linear", "model.mixer.features=elu"});
  EXPECT_THAT(flow, Not(Contains("random_features")));
  EXPECT_THAT(sources_of({"model.mixer.kind=linear", "model.mixer.density=flow"}),
              IsSupersetOf({"random_features", "flow", "spline"}));
  EXPECT_THAT(sources_of({"model.mixer.kind=linear", "model.mixer.features=hybrid",
                          "model.mixer.features.estimators=[\"oprf\",\"dpfp\"]"}),
              IsSupersetOf({"mixed_hybrid", "optimal", "pointwise"}));
  EXPECT_THAT(sources_of({"model.pattern=[\"ssm\",\"mlstm\"]"}), IsSupersetOf({"ssm", "mlstm"}));
  EXPECT_THAT(sources_of({"model.kind=events", "data.kind=hawkes", "model.time.kind=laplace"}),
              IsSupersetOf({"events", "time_encodings", "heavy_tailed"}));
}

TEST(TorchModule, RefusesByNameWhatItHasNot) {
  try {
    torch_sources_of(with_keys({"model.kind=gp", "data.kind=table"}));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("model.kind = \"gp\" has no form in PyTorch"));
  }
}

TEST(TorchModule, NamesItsSources) {
  const std::string text = torch_package(torch_sources_of(with_keys({})), "lm: step 3 of run");
  EXPECT_THAT(text, HasSubstr("\"\"\"lm: step 3 of run."));
  EXPECT_THAT(text, HasSubstr("from . import attention, blocks, "));
  EXPECT_THAT(text, HasSubstr("from .weights import load, save"));
}

}  // namespace torch_module_test
}  // namespace bochner
