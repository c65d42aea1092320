#include <bochner/bochner.hpp>
#include <cstdio>
using namespace bochner;

int main(int argc, char** argv) {
  LanguageModelSpec spec;
  spec.length = 64, spec.blocks = 2, spec.block.width = 32;
  spec.block.mixer.kind = "linear";
  LanguageModel model(spec);
  initialize(model, 1);

  const ByteWindows text(ByteCorpus({argc > 1 ? argv[1] : "text.txt"}), spec.length, 0.1, 1);
  const OptimizerSpec settings{.lr = 3e-3, .schedule = {ScheduleKind::cosine, 10}};
  const auto parameters = parameters_of(model);
  const auto optimizer = make_optimizer(settings, parameters);
  const std::uint64_t steps = 60, B = 8;
  for (std::uint64_t step = 0; step < steps; ++step) {
    Tape tape({.training = true, .seed = 1, .step = step});
    const Batch batch = text.batch(text.training(step * B, B));
    const Var loss = model.loss(tape, batch.inputs, batch.targets);
    tape.backward(loss);
    optimizer->step(learning_rate(settings.schedule, settings.lr, step, steps),
                    norm_limit(gradient_norm(parameters), settings.clip));
    optimizer->zero_gradients();
    if (step % 20 == 19) std::printf("%zu %.4f\n", std::size_t(step + 1), loss.value()());
  }

  Tape tape({.recording = false});
  const Batch held = text.batch(text.in_order(Split::validation, 0, 8));
  std::printf("valid %.4f\n", model.loss(tape, held.inputs, held.targets).value()());
}
