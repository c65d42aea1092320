#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/layers/models/event_model.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/commands/bench/reference_models.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Types of the next events by a softmax, from types and times: what the PyTorch model does.
class EventClassifier : public Module {
 public:
  EventClassifier(const EventEncodingSpec& encoding, const StackSpec& stack)
      : encoding_(encoding), stack_(stack), head_(encoding.width, encoding.types) {}
  Var loss(Tape& tape, const Indices& types, const Times& times, const Indices& next) {
    const Var x = stack_.forward(tape, encoding_.forward(tape, types, times));
    return cross_entropy(head_.forward(tape, x), next);
  }
  void visit(Visitor& visitor) override {
    visitor("encoding", encoding_);
    stack_.visit(visitor);
    visitor("head", head_);
  }

 private:
  EventEncoding encoding_;
  BlockStack stack_;
  Linear head_;
};

EventEncodingSpec encoding_of(const ReferenceModel& reference) {
  EventEncodingSpec spec{reference.vocabulary, reference.width, {}};
  spec.time.kind = "mercer";
  spec.time.m = 8;
  spec.time.degree = 4;
  spec.time.paired = false;
  spec.time.shortest = 1;
  spec.time.longest = 1e4;
  return spec;
}

/// Gaps uniform on [0, 100].
Times random_times(std::size_t B, std::size_t T) {
  Times times(std::vector<std::size_t>{B, T});
  const RandomFunction random{1, Purpose::test, 3};
  for (std::size_t i = 0; i < times.size(); ++i)
    times.data()[i] = (i % T == 0 ? 0 : times.data()[i - 1]) + 100 * random.uniform(i);
  return times;
}

}  // namespace

ReferenceProblem make_event_problem(const ReferenceModel& reference, const StackSpec& stack,
                                    std::size_t B) {
  const std::size_t T = reference.length;
  auto model = std::make_unique<EventClassifier>(encoding_of(reference), stack);
  initialize(*model, 1);
  const auto loss = [&model = *model, types = random_indices({B, T}, reference.vocabulary, 1),
                     next = random_indices({B, T}, reference.vocabulary, 2),
                     times = random_times(B, T)](Tape& tape) {
    return model.loss(tape, types, times, next);
  };
  return {std::move(model), loss, B * T};
}

}  // namespace bochner::inline BOCHNER_PRECISION
