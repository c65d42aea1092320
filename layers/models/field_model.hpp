#pragma once
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/basic/standardization.hpp>
#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/layers/models/block.hpp>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {

struct FieldModelSpec {
  std::size_t frames = 8;
  std::vector<std::size_t> sides = {12, 12};  ///< pixels along each axis, the slowest first
  std::size_t patch = 1;                      ///< divides them
  SpaceTimeSpec encoding = {};                ///< its width and its space are filled in
  bool every_block = false;
  bool standardize = false;  ///< frames come in a unit of their own, a buffer of the model
  StackSpec stack = {};      ///< its positions are "none"
};
inline void describe(Keys& keys, FieldModelSpec& spec) {
  describe(keys, spec.stack);
  keys("patch.pixels", spec.patch, between(1, 1 << 12),
       "field, contrastive, vae of images: pixels along each side of a token");
  keys.section("encoding", spec.encoding);
  describe_every_block(keys, spec.every_block);
}

/// Every patch of every frame is a token with an encoding of its place and time; blocks with
/// attention in both directions; a linear head that reads patches. Unit of the coordinates: the
/// extent of the grid along each axis, and of the frames that are seen. Shapes are those of two
/// dimensions; with one it is W in place of H, W, with three D, H, W.
class FieldModel : public Module {
 public:
  explicit FieldModel(const FieldModelSpec& spec);
  /// The field one frame after the last: that one, and a change read from its tokens. (B, T, H, W)
  /// -> (B, H, W)
  Var predict(Tape& tape, const Tensor& frames);
  /// Mean squared error of predict(). (B, T, H, W), (B, H, W) -> ()
  Var loss(Tape& tape, const Tensor& frames, const Tensor& next);
  /// What the head reads from the tokens of each frame. (B, T, H, W) -> (B, T, H, W)
  Var readings(Tape& tape, const Tensor& frames);

  /// Encoding of each patch and frame, (T, N, E), N = H W / patch^2 patches of a frame; nothing for
  /// "none".
  Var encoding(Tape& tape);
  /// Coordinates of the patches of a frame along each axis.
  GridAxes patch_axes() const;
  /// Place and time of every token, (T N): where encoding() is taken.
  Places token_places() const;
  std::vector<double> token_times() const;
  /// Null for "none".
  SpaceTimeEncoding* encoder() { return encoding_.get(); }
  /// Between data and what predict() and loss() take, as one variate; null if that is the same.
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
