#include <bochner/bochner.hpp>
#include <cmath>
using namespace bochner;

/// ln cosh(error): smooth, squared near 0 and absolute far away.
struct LogCosh : ValueLoss {
  explicit LogCosh(const LossSpec&) {}
  Var of_values(const Var& predicted, const Var& targets) const override {
    const Var error = predicted - targets;
    return error + softplus(-2 * error) - std::log(2);
  }
};

struct LorenzSpec {
  std::size_t rows = 2000;
  double rho = 28;
};
void describe(Keys& keys, LorenzSpec& spec) {
  keys("points", spec.rows, between(2, 1e7), "rows of the table");
  keys("rho", spec.rho, at_least(0), "Rayleigh number; chaotic at 28");
}

/// x, y and z of the Lorenz system in steps of 0.02: Lorenz, "Deterministic nonperiodic flow",
/// 1963.
class Lorenz : public TableSource {
 public:
  Lorenz(const TableSourceSpec&, const LorenzSpec& own) : own_(own) {}
  NamedArray table() const override {
    NamedArray table{xt::zeros<double>({own_.rows, std::size_t(3)}), {"x", "y", "z"}};
    double x = 1, y = 1, z = 1;
    for (std::size_t row = 0; row < own_.rows; ++row) {
      for (int i = 0; i < 20; ++i) {
        const double dx = 10 * (y - x), dy = x * (own_.rho - z) - y, dz = x * y - 8 * z / 3;
        x += 1e-3 * dx, y += 1e-3 * dy, z += 1e-3 * dz;
      }
      table.values(row, 0) = x, table.values(row, 1) = y, table.values(row, 2) = z;
    }
    return table;
  }

 private:
  LorenzSpec own_;
};

struct DoublingSpec {
  std::size_t width = 32;
};
void describe(Keys& keys, DoublingSpec& spec) {
  keys("hidden", spec.width, between(1, 4096), "hidden units");
}

/// Learns to double an angle: (cos a, sin a) -> (cos 2 a, sin 2 a).
class Doubling : public CustomTask {
 public:
  Doubling(const CustomTaskSpec& spec, const DoublingSpec& own)
      : CustomTask(spec), net_(own.width) {}
  Module& model() override { return net_; }
  Var loss(Tape& tape, const Examples& examples) override {
    const std::size_t B = examples.size();
    Tensor x = zeros({B, 2}), y = zeros({B, 2});
    for (std::size_t i = 0; i < B; ++i) {
      const double angle = 6.283185 * draws(examples, i).uniform();
      x(i, 0) = real(std::cos(angle)), x(i, 1) = real(std::sin(angle));
      y(i, 0) = real(std::cos(2 * angle)), y(i, 1) = real(std::sin(2 * angle));
    }
    return mean_squared_error(net_.forward(tape, tape.constant(x)), y);
  }
  std::string loss_unit() const override { return "mse"; }

 private:
  struct Net : Module {
    explicit Net(std::size_t width) : up(2, width), down(width, 2) {}
    Var forward(Tape& tape, const Var& x) { return down.forward(tape, up.forward_gelu(tape, x)); }
    void visit(Visitor& visitor) override { visitor("up", up), visitor("down", down); }
    Linear up, down;
  } net_;
};

void add_data() {
  losses().add("log_cosh", make<LogCosh>);
  table_sources().add("lorenz", make<Lorenz, LorenzSpec>);
  tasks().add("doubling", make<Doubling, DoublingSpec>);
}
