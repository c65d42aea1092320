/// The command with mixers that are wrong, for the words about them: `throwing` throws what is no
/// std::exception, `hidden` uses parameters that it visits only to initialise them.
#include <bochner/bochner.hpp>
using namespace bochner;

class Faulty : public Mixer {
 public:
  explicit Faulty(const MixerSpec& spec)
      : throws_(spec.kind == "throwing"), hidden_(spec.width, spec.width) {
    initialize(hidden_, 1);
  }
  Var forward(Tape& tape, const Var& x, const Layout&) override {
    if (throws_) throw 5;
    return hidden_.forward(tape, x);
  }
  std::unique_ptr<MixerState> start() const override { return std::make_unique<MixerState>(); }
  Var step(Tape& tape, const Var& x, MixerState&) override { return hidden_.forward(tape, x); }
  void visit(Visitor&) override {}

 private:
  bool throws_;
  Linear hidden_;
};

int main(int argc, char** argv) {
  mixers().add("throwing", make<Faulty>);
  mixers().add("hidden", make<Faulty>);
  return cli(argc, argv);
}
