#pragma once
/// Mixers by long convolutions, configured by keys, and their parts.

#include <gmock/gmock.h>

#include <bochner/layers/convolutions/filter.hpp>
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <map>
#include <set>

#include "layers/mixer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace chosen_mixer {

using namespace layer_check;

inline constexpr std::size_t width = 6;

/// Mixer configured by keys.
struct Chosen {
  std::string kind;
  std::map<std::string, std::string> keys = {};
  std::string name() const {
    std::string text = kind;
    for (const auto& [key, value] : keys) text += ", " + key + " = " + value;
    return text;
  }
};

/// Sets the keys of a test, each in all kinds that have it.
class SetKeys : public Keys {
 public:
  explicit SetKeys(const std::map<std::string, std::string>& wanted) : wanted_(wanted) {}
  ~SetKeys() override { EXPECT_EQ(found_.size(), wanted_.size()); }

 protected:
  void on_key(const Key& key) override {
    const auto found = wanted_.find(key.name);
    if (found == wanted_.end()) return;
    found_.insert(key.name);
    if (auto* text = std::get_if<std::string*>(&key.member)) **text = found->second;
    if (auto* flag = std::get_if<bool*>(&key.member)) **flag = found->second == "true";
    if (auto* number = std::get_if<double*>(&key.member)) **number = std::stod(found->second);
    if (auto* whole = std::get_if<std::int64_t*>(&key.member)) **whole = std::stoll(found->second);
  }

 private:
  const std::map<std::string, std::string>& wanted_;
  std::set<std::string> found_;
};

inline std::unique_ptr<Mixer> make(const Chosen& which, bool causal = true,
                                   std::size_t length = 300) {
  MixerSpec spec;
  spec.kind = which.kind;
  spec.width = width, spec.heads = 2;
  spec.causal = causal;
  spec.features.length = length;
  SetKeys keys(which.keys);
  describe(keys, spec);
  auto mixer = mixers().make(spec.kind, spec);
  initialize(*mixer, 1);  // including buffers
  return mixer;
}

inline void set_parameter(Module& module, const std::string& name, const Tensor& value) {
  for (const NamedParameter& named : parameters_of(module))
    if (named.name == name) return named.parameter->assign(value);
  FAIL() << "no parameter " << name;
}

/// Returns 1 where column = row + first. (rows, columns)
inline Tensor identity(std::size_t rows, std::size_t columns) {
  Tensor ones = zeros({rows, columns});
  for (std::size_t i = 0; i < rows; ++i) ones(i, i) = 1;
  return ones;
}

inline TwoSidedFilter& filter_of(Mixer& mixer, const std::string& name = "filter") {
  for (const NamedPart& part : parts_of(mixer))
    if (part.name == name) return dynamic_cast<TwoSidedFilter&>(*part.part);
  throw std::logic_error("no part " + name);
}

}  // namespace chosen_mixer
}  // namespace bochner::inline BOCHNER_PRECISION
