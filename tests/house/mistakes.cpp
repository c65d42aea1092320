// What must not compile, each on a marked line; tests/house/mistakes reads the errors.
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/mixers/mixers.hpp>
using namespace bochner;

struct Visitless : Mixer {
  explicit Visitless(const MixerSpec&) {}
  Var forward(Tape&, const Var& x, const Layout&) override { return x; }
};
struct Whole : Visitless {
  using Visitless::Visitless;
  void visit(Visitor&) override {}
};
struct Undescribed {};
struct Keyed : Whole {
  Keyed(const MixerSpec& spec, const Undescribed&) : Whole(spec) {}
};
struct IntSpec {
  int count = 3;
};
void describe(Keys& keys, IntSpec& spec) { keys("count", spec.count, "a count"); }  // MISTAKE

void mistakes(Tape& tape, const Var& x) {
  max(x, 0.0);                                             // MISTAKE
  mean(x, 0.5);                                            // MISTAKE
  mixers().add("visitless", make<Visitless>);              // MISTAKE
  mixers().add("undescribed", make<Keyed, Undescribed>);   // MISTAKE
  mixers().add("whole", make<Whole>, {.feature = false});  // MISTAKE
  record("wide", zeros({2}), {x}, [x](Tensor& g) {
    x.add_gradient(xt::cast<long double>(g) * 0.1L);  // MISTAKE
  });
  Scratch<real> a(4), b = a;  // MISTAKE
  Tape other = tape;          // MISTAKE
}
