#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/train/distributed/sharded_gradients.hpp>

#include "data/messages.hpp"
#include "train/thread_processes.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace gradient_exchange_test {

constexpr std::size_t large = 25001;  // more than a bucket

/// Four tensors that are used one after the other, the first one at the end again.
struct Chain {
  Parameter a{large}, b{large}, c{large}, d{large};
  Chain() {
    for (Parameter* parameter : {&a, &b, &c, &d})
      for (std::size_t i = 0; i < large; ++i)
        parameter->value().data()[i] = real(i % 7) / 8 - real(0.3);
  }
  std::vector<NamedParameter> parameters() { return {{"a", &a}, {"b", &b}, {"c", &c}, {"d", &d}}; }
  Var loss(Tape& tape, std::size_t shard) {
    Var x = sin(tape(a)) * real(shard + 1);
    x = x * tape(b) + tape(c);
    x = sin(x) * tape(d);
    return sum(x * tape(a));
  }
};

struct Order : TapeObserver {
  std::function<void()> look;
  void went_backward(const char*, std::size_t) override { look(); }
};

std::vector<Tensor> gradients_of(Processes& processes, int steps, bool recompute = false) {
  Chain chain;
  ShardedGradients gradients(chain.parameters(), 4, false, processes);
  for (int step = 0; step < steps; ++step) {
    const ShardResult result = gradients.of(
        [&](std::size_t shard, const PassOptions& options) {
          for (int part = 0; part < 2; ++part) {
            Tape tape(options);
            if (part == 1 && options.observer) options.observer->last_pass_began();
            const auto loss = [&](Tape& on, const Var& x) { return chain.loss(on, shard) + x; };
            tape.backward(recompute ? checkpoint(tape, loss, tape.constant(zeros({})))
                                    : chain.loss(tape, shard));
          }
          return double(shard);
        },
        nullptr,
        [&] {
          return StopRequests{int(processes.rank()), false, processes.rank() == 0};
        });
    EXPECT_EQ(result.loss, 0 + 1 + 2 + 3);
    EXPECT_EQ(result.stop_requests.signal, int(processes.size()) - 1);
    EXPECT_FALSE(result.stop_requests.time_is_up);
    EXPECT_TRUE(result.stop_requests.save);
    if (processes.size() == 1) continue;
    EXPECT_EQ(static_cast<ThreadTransport&>(processes.transport()).under_way(), 0u);
  }
  std::vector<Tensor> all;
  for (const NamedParameter& named : chain.parameters()) all.push_back(named.parameter->gradient());
  return all;
}

TEST(GradientExchange, HasEqualBitsWhileThePassGoesOn) {
  const std::vector<Tensor> expected = gradients_of(Processes::alone(), 1);
  for (const std::size_t count : {1, 2, 3, 4})
    for (const int steps : {1, 3})
      for (const bool recompute : {false, true})
        run_processes(count, [&](Processes& processes) {
          const std::vector<Tensor> found = gradients_of(processes, steps, recompute);
          for (std::size_t i = 0; i < expected.size(); ++i)
            EXPECT_TRUE(found[i] == expected[i]) << "parameter " << i << " of " << count;
        });
}

/// A message for each bucket up, and one down; nothing else.
TEST(GradientExchange, SendsOneMessageABucketAndEdge) {
  run_processes(2, [](Processes& processes) {
    Chain chain;
    GradientExchange exchange(chain.parameters(), 2, processes);
    for (int step = 1; step <= 3; ++step) {
      exchange.begin();
      Tape tape;
      tape.backward(chain.loss(tape, processes.rank()));
      exchange.take(processes.rank(), {1});
      EXPECT_EQ(exchange.finish().loss, 2);
      EXPECT_EQ(exchange.cost().messages, std::size_t(6 * step));
    }
    // Two tensors have the end of one bucket within them.
    EXPECT_EQ(exchange.cost().bytes, 3 * ((4 * large + 8) * sizeof(real) + sizeof(ShardResult)));
  });
}

/// The loss, and what processes ask of each other, go with the gradients.
TEST(GradientExchange, IsAllThatAStepSends) {
  TemporaryFolder folder;
  const Config config =
      tiny_config(folder.write("text", tiny_text()), {"train.batch=4", "train.shards=4"});
  for (const std::size_t count : {2, 4})
    run_processes(count, [&](Processes& processes) {
      const auto task = make_task(config);
      Trainer trainer(config, *task, 9, processes);
      trainer.step();
      const auto& transport = static_cast<ThreadTransport&>(processes.transport());
      const std::size_t sent = transport.sent, counted = trainer.exchange().cost().messages;
      for (int step = 0; step < 3; ++step) trainer.step();
      EXPECT_EQ(transport.sent - sent, trainer.exchange().cost().messages - counted);
      EXPECT_LE(transport.sent - sent, 3 * 2u);
    });
}

/// Of parameters without elements it is known, too, whether they have gradients.
TEST(GradientExchange, CountsWhatHasNoElements) {
  for (const std::size_t count : {1, 2})
    run_processes(count, [](Processes& processes) {
      Parameter first({0}), large_one({3 * large}), between({0}), small({2}), last({0});
      GradientExchange exchange({{"last", &last},
                                 {"small", &small},
                                 {"between", &between},
                                 {"large", &large_one},
                                 {"first", &first}},
                                2, processes);
      exchange.begin();
      for (std::size_t shard = 0; shard < 2; ++shard) {
        if (!processes.leaves(2).has(processes.rank(), shard, shard + 1)) continue;
        for (Parameter* parameter : {&first, &between, &small, &last}) {
          Tape tape;
          tape.backward(tape(*parameter), filled(parameter->shape(), real(1)));
        }
        exchange.take(shard, {});
      }
      exchange.finish();
      EXPECT_TRUE(first.has_gradient() && between.has_gradient() && last.has_gradient());
      EXPECT_EQ(small.gradient(), filled({2}, real(2)));
      EXPECT_FALSE(large_one.has_gradient());
    });
}

/// What is on its way before the pass has ended.
TEST(GradientExchange, BeginsWithWhatThePassNeedsNoMore) {
  run_processes(2, [](Processes& processes) {
    Chain chain;
    GradientExchange exchange(chain.parameters(), 2, processes);
    std::size_t early = 0;
    for (int step = 0; step < 2; ++step) {
      exchange.begin();
      const std::size_t before = exchange.cost().messages;
      Order order;
      order.look = [&] { exchange.look(); };
      Tape tape;
      tape.observer = &order;
      tape.backward(chain.loss(tape, processes.rank()));
      early = exchange.cost().messages - before;
      exchange.take(processes.rank(), {});
      exchange.finish();
    }
    EXPECT_GE(early, 1u);
  });
}

/// Whoever changes a gradient behind its back is told.
TEST(GradientExchange, NoticesAGradientThatComesLate) {
  run_processes(2, [](Processes& processes) {
    Chain chain;
    GradientExchange exchange(chain.parameters(), 2, processes);
    exchange.begin();
    Tape tape;
    tape.backward(chain.loss(tape, processes.rank()));
    exchange.look();
    Tape again;
    again.backward(sum(again(chain.d)));
    EXPECT_THAT(message_of<std::logic_error>([&] { exchange.take(processes.rank(), {}); }),
                testing::HasSubstr("the gradient of d was sent before it was complete"));
  });
}

}  // namespace gradient_exchange_test
}  // namespace bochner
