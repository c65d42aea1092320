/// Faulty calls of the library, each of which throws: faulty_mixers64 call NAME.
#include <bochner/bochner.hpp>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
using namespace bochner;

namespace {

LanguageModelSpec small_spec() {
  LanguageModelSpec spec;
  spec.blocks = 1, spec.length = 8, spec.block.width = 8, spec.block.mixer.heads = 2;
  return spec;
}

/// Trains a model that was never initialised.
void train_zeros() {
  LanguageModel model(small_spec());
  Tape tape({.training = true});
  const Indices tokens{{1, 4}, {1, 2, 3, 4}};
  tape.backward(model.loss(tape, tokens, tokens));
}

void replace_a_value_by_another_shape() {
  Parameter p({2, 3});
  p.value() = filled({4}, real(1));
  Tape tape;
  tape(p);
}

/// A loss that depends on no parameter.
void train_on_a_constant() {
  Parameter p({2});
  Tape tape({.training = true});
  tape.backward(sum(square(Var(p.value()))));
}

void give_a_gradient_of_another_shape() {
  Tape tape;
  const Var x = tape.input(zeros({2, 3}));
  const Var y =
      record("bad", zeros({2}), {x}, [x](Tensor&) { x.add_gradient(filled({3}, real(1))); });
  tape.backward(sum(y));
}

void go_backward_twice() {
  Tape tape;
  const Var y = exp(tape.input(zeros({})));
  tape.backward(y);
  tape.backward(y);
}

void use_an_ended_tape() {
  Var x;
  {
    Tape tape;
    x = square(tape.input(zeros({2})));
  }
  x + x;
}

void join_two_tapes() {
  Tape one, other;
  one.input(zeros({2})) + other.input(zeros({2}));
}

void step_before_backward() {
  Parameter p({2});
  const auto optimizer = make_optimizer({}, {{"p", &p}});
  Tape late, tape;
  const Var loss = sum(square(late(p)));
  tape.backward(sum(tape(p)));
  optimizer->step(0.1);
  late.backward(loss);
}

void step_at_a_rate_of_nan() {
  Parameter p({2});
  make_optimizer({}, {{"p", &p}})->step(std::numeric_limits<double>::quiet_NaN());
}

/// The logarithm of 0, with finite values checked.
void take_a_logarithm_of_zero() {
  Tape tape({.check_finite = true});
  log(tape.input(zeros({2})));
}

void visit_nothing() {
  Parameter p({2});
  const ParameterSet none;
  Tape tape({.visited = &none});
  tape(p);
}

void add_a_name_with_a_space() {
  mixers().add("my mixer", [](const MixerSpec&) { return std::unique_ptr<Mixer>(); });
}

void ask_for_rotary_without_queries() {
  MixerSpec spec;
  spec.kind = "min_gru", spec.rotary = true;
  mixers().make(spec.kind, spec);
}

void ask_for_a_value_out_of_bounds() {
  OptimizerSpec spec;
  spec.clip = -1;
  Parameter p({2});
  make_optimizer(spec, {{"p", &p}});
}

const std::map<std::string, std::function<void()>> faulty_calls{
    {"train_zeros", train_zeros},
    {"replace_a_value_by_another_shape", replace_a_value_by_another_shape},
    {"train_on_a_constant", train_on_a_constant},
    {"give_a_gradient_of_another_shape", give_a_gradient_of_another_shape},
    {"go_backward_twice", go_backward_twice},
    {"use_an_ended_tape", use_an_ended_tape},
    {"join_two_tapes", join_two_tapes},
    {"step_before_backward", step_before_backward},
    {"step_at_a_rate_of_nan", step_at_a_rate_of_nan},
    {"take_a_logarithm_of_zero", take_a_logarithm_of_zero},
    {"visit_nothing", visit_nothing},
    {"add_a_name_with_a_space", add_a_name_with_a_space},
    {"ask_for_rotary_without_queries", ask_for_rotary_without_queries},
    {"ask_for_a_value_out_of_bounds", ask_for_a_value_out_of_bounds},
};

}  // namespace

/// Makes the faulty call; "correct" is none. Prints the error.
int make_faulty_call(const std::string& name) try {
  if (name != "correct") faulty_calls.at(name)();
  std::puts("no error");
  return 0;
} catch (const std::exception& error) {
  std::puts(error.what());
  return 1;
}
