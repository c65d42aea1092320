#include <bochner/train/commands/command_options.hpp>
#include <bochner/train/commands/kernel_command_line.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Options of all of them.
void add_kernel(CLI::App* sub, KernelOptions& options) {
  sub->add_option("config", options.config,
                  "config file (TOML); without one, that of the run or the defaults")
      ->type_name("FILE");
  add_sets(sub, options.sets);
  sub->add_option("--density", options.density, "spectral density, instead of the config's");
  sub->add_option("--draws", options.draws, "base draws, instead of the config's");
  add_number(sub, "--d", options.d, "size of a head, 0 for the default");
  sub->add_option("--m", options.m, "numbers of frequencies")
      ->capture_default_str()
      ->type_name("LIST");
  add_number(sub, "--seeds", options.seeds, "independent sets of draws");
  sub->add_option("--report", options.report, "also write a page with pictures")->type_name("FILE");
  sub->add_flag("--json", options.json, "print JSON lines");
}

void add_samples(CLI::App* sub, KernelOptions& options) {
  sub->add_option("--queries", options.queries, ".npy matrix, one query in a row")
      ->type_name("FILE");
  sub->add_option("--keys", options.keys, ".npy matrix, one key in a row")->type_name("FILE");
  add_number(sub, "--scale", options.scale, "else they are drawn with this standard deviation");
}

void add_study(CLI::App* sub, KernelOptions& options) {
  sub->add_option("--features", options.features, "feature map, instead of the config's");
  add_number(sub, "--error", options.error, "the relative error that is wanted");
  add_samples(sub, options);
  sub->add_option("--data", options.data, "queries and keys of each layer of this run")
      ->type_name("RUN");
}

void add_fit(CLI::App* sub, KernelFitOptions& options) {
  sub->add_option("--target", options.target,
                  "gaussian, laplace, cauchy, matern32, matern52, periodic_mixture, or a .csv or "
                  ".npy file of rows delta, k")
      ->capture_default_str();
  add_number(sub, "--reach", options.reach, "largest |delta|");
  add_number(sub, "--steps", options.steps, "steps of the optimizer");
  add_number(sub, "--lr", options.learning_rate, "its largest learning rate");
}

void add_compare(CLI::App* sub, KernelCompareOptions& options) {
  sub->add_option("--maps", options.maps, "feature maps (default: all)")->type_name("LIST");
  add_samples(sub, options.kernel);
  add_number(sub, "--steps", options.steps, "steps of the optimizer");
  add_number(sub, "--lr", options.learning_rate, "its largest learning rate");
  sub->add_flag("--with-density", options.density, "fit the frequencies too");
}

}  // namespace

void add_kernel_commands(CLI::App& app, KernelCommands& options, std::size_t& threads,
                         std::function<int()>& action) {
  auto& [study, fit, compare] = options;
  CLI::App* group = app.add_subcommand("kernel", "study a kernel without training a model");
  group->callback([&, group] {
    if (group->get_subcommands().empty()) action = [&study] { return kernel_command(study); };
  });
  add_threads(group, threads);
  add_kernel(group, study);
  add_study(group, study);
  const auto command = [&](const char* name, const char* help, const std::function<int()>& run) {
    CLI::App* sub = group->add_subcommand(name, help);
    sub->callback([&action, run] { action = run; });
    add_threads(sub, threads);
    return sub;
  };

  fit.kernel.m = "512";
  fit.kernel.seeds = 3;
  CLI::App* fitter = command("fit", "fit a density to a kernel by gradient descent",
                             [&fit] { return kernel_fit_command(fit); });
  add_kernel(fitter, fit.kernel);
  add_fit(fitter, fit);

  compare.kernel.m = "64";
  compare.kernel.seeds = 20;
  CLI::App* comparer = command("compare", "learned against fixed feature maps",
                               [&compare] { return kernel_compare_command(compare); });
  add_kernel(comparer, compare.kernel);
  add_compare(comparer, compare);

  CLI::App* clusters = command("clusters", "hybrid features on clusters, as published",
                               [&study] { return kernel_clusters_command(study); });
  clusters->add_option("--draws", study.draws, "base draws (default: sobol_owen)");
  clusters->add_flag("--json", study.json, "print JSON lines");
}

}  // namespace bochner::inline BOCHNER_PRECISION
