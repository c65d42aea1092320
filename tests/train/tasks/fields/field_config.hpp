#pragma once
#include "train/training_run.hpp"

namespace bochner {

/// The tiny model on frames of 6 x 4 pixels, with these keys.
inline Config field_config(const std::vector<std::string>& sets = {}) {
  std::vector<std::string> all = {"model.kind=field",       "data.kind=advection_diffusion",
                                  "data.frames=3",          "data.height=6",
                                  "data.width=4",           "data.validation_examples=5",
                                  "model.encoding.space=4", "model.encoding.time=2"};
  all.insert(all.end(), sets.begin(), sets.end());
  return tiny_config("unused", all);
}

}  // namespace bochner
