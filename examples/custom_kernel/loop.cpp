#include <bochner/bochner.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
using namespace bochner;

/// loop TEXT [STATE [STEP]]: trains to STEP of 60, resuming from the file STATE if it exists.
int main(int argc, char** argv) {
  if (argc < 2) return std::fputs("loop TEXT [STATE [STEP]]\n", stderr), 2;
  LanguageModelSpec spec;
  spec.length = 64, spec.blocks = 2, spec.block.width = 32, spec.block.mixer.kind = "linear";
  LanguageModel model(spec);
  initialize(model, 1);
  const ByteWindows text(ByteCorpus({argv[1]}), spec.length, 0.1, 1);
  const OptimizerSpec settings{.lr = 3e-3, .schedule = {"cosine", 10}};
  const auto parameters = parameters_of(model);
  const auto optimizer = make_optimizer(settings, parameters);

  Tensor done = zeros({1});  // number of steps
  std::vector<NamedTensor> all = optimizer->state();
  for (const NamedTensor& buffer : buffers_of(model)) all.push_back(buffer);
  for (const auto& [name, parameter] : parameters) all.push_back({name, &parameter->value()});
  all.push_back({"done", &done});
  if (argc > 2 && std::filesystem::exists(argv[2])) read_tensors(argv[2], all);

  const std::uint64_t steps = 60, B = 8, last = argc > 3 ? std::stoul(argv[3]) : steps;
  for (auto step = std::uint64_t(done(0)); step < last; ++step) {
    Tape tape({.training = true, .seed = 1, .step = step});
    const Batch batch = text.batch(text.training(step * B, B));
    const Var loss = model.loss(tape, batch.inputs, batch.targets);
    tape.backward(loss);
    const double norm = gradient_norm(parameters);
    if (!std::isfinite(norm)) return std::fputs("the loss diverged\n", stderr), 1;
    optimizer->step(learning_rate(settings.schedule, settings.lr, step, steps),
                    norm_limit(norm, settings.clip));
    optimizer->zero_gradients();
    if (step % 20 == 19) std::printf("%zu %.4f\n", std::size_t(step + 1), loss.value()());
  }
  done(0) = real(last);
  if (argc > 2) write_tensors(argv[2], all);

  Tape tape({.recording = false});
  const Batch held = text.batch(text.in_order(Split::validation, 0, 8));
  std::printf("valid %.6f\n", model.loss(tape, held.inputs, held.targets).value()());
}
