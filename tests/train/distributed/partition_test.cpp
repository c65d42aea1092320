#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/distributed/partition.hpp>

#include "train/thread_processes.hpp"

namespace bochner {
namespace partition_test {

/// Tensors of sizes that no cut falls between.
struct Weights {
  Parameter a{101, 3}, b{40000}, c{7};
  Weights() {
    for (const NamedParameter& named : all())
      for (std::size_t i = 0; i < named.parameter->value().size(); ++i)
        named.parameter->value().data()[i] = real(i % 11) - 5;
  }
  std::vector<NamedParameter> all() { return {{"a", &a}, {"b", &b}, {"c", &c}}; }
  /// None of c in the second step.
  void set_gradients(int step) {
    for (const NamedParameter& named : all()) {
      named.parameter->zero_gradient();
      if (named.name == "c" && step == 1) continue;
      Tape tape;
      tape.backward(tape(*named.parameter),
                    filled(named.parameter->shape(), real(0.1) * real(step + 1)));
    }
  }
};

struct Outcome {
  std::vector<Tensor> weights, state;
  std::size_t bytes = 0;
};

std::size_t bytes_of(Optimizer& optimizer) {
  std::size_t bytes = 0;
  for (const NamedTensor& named : optimizer.state()) bytes += named.tensor->size() * sizeof(real);
  return bytes;
}

Outcome train(const std::string& kind, Processes& processes) {
  Weights weights;
  OptimizerSpec spec;
  spec.kind = kind;
  const auto optimizer = make_optimizer(spec, weights.all());
  OptimizerPartition partition(*optimizer, weights.all(), processes);
  const bool cut = processes.size() > 1;
  Outcome outcome;
  for (int step = 0; step < 4; ++step) {
    if (cut && optimizer->is_whole()) partition.cut();
    weights.set_gradients(step);
    optimizer->step(0.01);
    if (cut) partition.share_weights();
    outcome.bytes = bytes_of(*optimizer);
    if (step % 2 == 1 && cut) partition.gather();
    if (step == 1 && cut && processes.leads()) partition.cut();
  }
  for (const NamedParameter& named : weights.all())
    outcome.weights.push_back(named.parameter->value());
  for (const NamedTensor& named : optimizer->state()) outcome.state.push_back(*named.tensor);
  return outcome;
}

TEST(OptimizerPartition, TrainsWithTheBitsOfAWholeOneInAPartOfTheMemory) {
  for (const char* kind : {"adamw", "sgd"}) {
    const Outcome alone = train(kind, Processes::alone());
    for (const std::size_t count : {2, 3, 8})
      run_processes(count, [&](Processes& processes) {
        const Outcome part = train(kind, processes);
        for (std::size_t i = 0; i < alone.weights.size(); ++i)
          EXPECT_TRUE(part.weights[i] == alone.weights[i]) << kind << count;
        EXPECT_LE(double(part.bytes), double(alone.bytes) * (1.0 / double(count) + 0.05));
        if (!processes.leads()) return;
        for (std::size_t i = 0; i < alone.state.size(); ++i)
          EXPECT_TRUE(part.state[i] == alone.state[i]) << kind << count << " state " << i;
      });
  }
}

}  // namespace partition_test
}  // namespace bochner
