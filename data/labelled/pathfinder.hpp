#pragma once
#include <bochner/data/labelled/pixels.hpp>

namespace bochner {

/// Generated grey images of dashed curves and two discs: label 1 if the discs mark the ends of one
/// curve of 14 dashes, 0 if they mark ends of two such curves. Shorter curves distract. Sizes are
/// those of the Long Range Arena for sides of 32 and 128 pixels (Tay et al., 2021), linear between;
/// drawn after Linsley et al., "Learning long-range spatial dependencies with horizontal gated
/// recurrent units", 2018, with a drawing of our own.
class Pathfinder : public LabelledSequences {
 public:
  static constexpr std::size_t smallest_side = 32;
  /// Throws std::invalid_argument for a side below the smallest.
  Pathfinder(const ShapesSpec& spec, const ExampleSet& examples);
  ImageShape image() const override { return {spec_.side, spec_.side, 1}; }
  std::uint64_t fingerprint() const override {
    return examples_.fingerprint("pathfinder", {spec_.side, spec_.class_token});
  }

 protected:
  std::string describe() const override;
  LabelledExample example(Split split, std::uint64_t index) const override;

 private:
  ShapesSpec spec_;
};

}  // namespace bochner
