#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/tasks/field_task.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t shown_examples = 3;

/// n elements from `first` on.
std::vector<double> numbers(const Tensor& x, std::size_t first, std::size_t n) {
  return std::vector<double>(x.data() + first, x.data() + first + n);
}

}  // namespace

std::vector<FieldPicture> FieldTask::pictures(std::size_t count) {
  const FieldBatch batch = data_->batch(data_->in_order(Split::validation, 0, count));
  const Tensor predicted = next_frames(batch.frames);
  const auto [T, H, W] = data_->size();
  std::vector<FieldPicture> pictures;
  for (std::size_t b = 0; b < batch.next.shape()[0]; ++b) {
    pictures.push_back(
        {fmt::format("Example {}", b), H, W, numbers(batch.frames, (b * T + T - 1) * H * W, H * W),
         numbers(batch.next, b * H * W, H * W), numbers(predicted, b * H * W, H * W)});
  }
  return pictures;
}

EncodingPicture FieldTask::encoding_picture() {
  const FieldModelSpec& spec = model_.spec();
  Tape tape;
  tape.recording = false;
  const Tensor code = model_.encoding(tape).value();
  return {spec.frames, spec.height / spec.patch, spec.width / spec.patch, code.shape()[2],
          numbers(code, 0, code.size())};
}

void FieldTask::illustrate(Page& page) {
  const std::uint64_t held_out = data_->examples().validation;
  if (held_out > 0) add_fields(page, pictures(std::min<std::uint64_t>(shown_examples, held_out)));
  if (model_.encoder()) add_encoding(page, encoding_picture());
}

}  // namespace bochner::inline BOCHNER_PRECISION
