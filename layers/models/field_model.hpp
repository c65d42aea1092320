#pragma once
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/basic/standardization.hpp>
#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/layers/models/block.hpp>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {

struct FieldModelSpec {
  std::size_t frames = 8;
  std::vector<std::size_t> sides = {12, 12};  ///< pixels per axis, the slowest first
  std::size_t patch = 1;                      ///< divides the sides
  SpaceTimeSpec encoding = {};                ///< width and space are set later
  bool every_block = false;
  bool standardize = false;  ///< frames in data units, standardized by buffers of the model
  StackSpec stack = {};      ///< positions are "none"
};
/// Also of images in other models.
inline void describe_pixels(Keys& keys, std::size_t& pixels) {
  const KeyCondition images = when("data.kind", {"images", "shapes"});
  const KeyCondition field = when("model.kind", {"field"}) && unless("data.kind", {"sensors"});
  keys.when(field || (images && when("model.kind", {"vae", "contrastive"})))(
      "patch.pixels", pixels, between(1, 1 << 12), "pixels of each side of a token");
}
inline void describe(Keys& keys, FieldModelSpec& spec) {
  describe(keys, spec.stack);
  describe_pixels(keys, spec.patch);
  keys.section("encoding", spec.encoding);
  describe_every_block(keys, spec.every_block);
}

/// Model of fields on a grid: each patch of each frame is a token with an encoding of its place and
/// time; blocks with attention in both directions; a linear head to patches. Coordinates are in
/// units of the grid's extent per axis and of the input frames. Shapes are given for two
/// dimensions; one has W instead of H, W, three have D, H, W.
class FieldModel : public Module {
 public:
  explicit FieldModel(const FieldModelSpec& spec);
  /// Predicts the next frame: the last plus a decoded change. (B, T, H, W) -> (B, H, W)
  Var predict(Tape& tape, const Tensor& frames);
  /// Returns the mean squared error of predict(). (B, T, H, W), (B, H, W) -> ()
  Var loss(Tape& tape, const Tensor& frames, const Tensor& next);
  /// Decodes the tokens of all frames. (B, T, H, W) -> (B, T, H, W)
  Var reconstruct(Tape& tape, const Tensor& frames);

  /// Returns the patches' encoding (T, N, E), N = H W / patch^2; nonexistent for "none".
  Var encoding(Tape& tape);
  /// Returns the coordinates of the patches of a frame along each axis.
  GridAxes patch_axes() const;
  /// Return place and time of every token, (T N), in the order of encoding().
  Places token_places() const;
  std::vector<double> token_times() const;
  /// Returns null for "none".
  SpaceTimeEncoding* encoder() { return encoding_.get(); }
  /// Returns the standardization of frames, as one variate; null if there is none.
  Standardize* standardize() { return standardize_ ? &*standardize_ : nullptr; }
  const FieldModelSpec& spec() const { return spec_; }
  void visit(Visitor& visitor) override;

 private:
  Var outputs(Tape& tape, const Tensor& frames);
  FieldModelSpec spec_;
  std::unique_ptr<SpaceTimeEncoding> encoding_;
  std::unique_ptr<Linear> input_;
  std::optional<Standardize> standardize_;
  BlockStack stack_;
  Linear head_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
