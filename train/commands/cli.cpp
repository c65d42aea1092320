#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/charts/format.hpp>
#include <bochner/train/commands/bench/reference_models.hpp>
#include <bochner/train/commands/cli.hpp>
#include <bochner/train/commands/command_options.hpp>
#include <bochner/train/commands/command_words.hpp>
#include <bochner/train/commands/commands.hpp>
#include <bochner/train/commands/data_command_line.hpp>
#include <bochner/train/commands/exit_codes.hpp>
#include <bochner/train/commands/gradcheck.hpp>
#include <bochner/train/commands/kernel_command_line.hpp>
#include <bochner/train/config/parameters.hpp>
#include <bochner/train/run/trainer.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/storage/storage.hpp>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace bochner {
namespace {

constexpr std::size_t most_threads = 1024;

/// Differences need double precision: the same program in double stands beside this one under the
/// name with 64. Returns where it does not.
void become_double_program(int argc, char** argv) {
  const std::string sibling = std::filesystem::read_symlink("/proc/self/exe").string() + "64";
  if (argc > 0 && access(sibling.c_str(), X_OK) == 0) execv(sibling.c_str(), argv);
  fmt::print(stderr,
             "in float, with a wide tolerance: no program with this one's name and 64 stands "
             "beside it\n");
}

/// Everything that the command line can say, and what to do then.
struct CommandLine {
  CLI::App app{"bochner: train long-sequence models whose attention kernels are learned"};
  std::string config, run, output, resets, section, shell, model, typed;
  std::size_t threads = 0;
  bool strict = false, json = false, markdown = false, live_weights = false;
  TrainingOptions training;
  SweepOptions sweep;
  EvaluationOptions evaluation;
  PredictionOptions prediction;
  CompressionOptions compression;
  SampleOptions sample;
  GradcheckOptions gradcheck;
  KernelCommands kernel;
  BenchOptions bench;
  DataOptions data;
  BenchLengthOptions bench_length;
  std::function<int()> action;
  /// Whether what is printed is what was asked for. A run goes on without a reader.
  bool prints_results = true;

  CLI::App* command(CLI::App& parent, const char* name, const char* help,
                    std::function<int()> run_it) {
    CLI::App* sub = parent.add_subcommand(name, help);
    add_threads(sub, threads);
    sub->callback([this, run_it = std::move(run_it)] { action = run_it; });
    return sub;
  }
  void add_training(CLI::App* sub, bool with_run) {
    sub->parse_complete_callback([this] { prints_results = false; });
    if (with_run)
      sub->add_option("--run", training.run,
                      "directory of the run (default: runs/NAME of the config)")
          ->type_name("DIR");
    add_sets(sub, training.sets);
    sub->add_option("--progress", training.progress,
                    "bar, plain or none; auto: a bar on a terminal, else plain lines")
        ->type_name("MODE");
    sub->add_flag("--profile", training.profile,
                  "print at the end where the time went, by op; kept as profile.json");
  }
  void add_weights(CLI::App* sub) {
    sub->add_flag("--live-weights", live_weights,
                  "the weights of the step itself, not the running mean of optim.ema");
  }
  void add_config(CLI::App* sub) {
    sub->add_option("config", config, "config file (TOML)")->required()->type_name("FILE");
  }
  void add_checkpoint(CLI::App* sub, const char* name, const char* help) {
    sub->add_option(name, run, help)->required()->type_name("RUN");
  }

  void add_training_commands() {
    CLI::App* train = command(app, "train", "start a new run",
                              [this] { return train_command(config, training); });
    add_config(train);
    add_training(train, true);
    CLI::App* resume = command(app, "resume", "go on with a run, bit for bit",
                               [this] { return resume_command(run, strict, training); });
    add_checkpoint(resume, "run", "directory of the run");
    resume->add_flag("--strict", strict, "refuse another build or machine than the checkpoint's");
    add_training(resume, false);
    CLI::App* fork = command(app, "fork", "start a new run from the checkpoint of another",
                             [this] { return fork_command(run, config, resets, training); });
    add_checkpoint(fork, "parent", "RUN, RUN@best or RUN@STEP");
    add_config(fork);
    fork->add_option("--reset", resets, "what starts anew: optimizer,schedule,data,ema")
        ->type_name("LIST");
    add_training(fork, true);
    CLI::App* sweeper =
        command(app, "sweep", "a run for every combination of values of some keys", [this] {
          sweep.threads = threads;
          return sweep_command(config, sweep);
        });
    add_config(sweeper);
    sweeper->add_option("--vary", sweep.vary, "values of a key, for instance train.seed=1,2,3")
        ->required()
        ->type_name("KEY=VALUE,VALUE")
        ->allow_extra_args(false);
    add_sets(sweeper, sweep.sets);
    sweeper
        ->add_option("--runs", sweep.runs,
                     "directory of the runs (default: runs/NAME-sweep of the config)")
        ->type_name("DIR");
    add_number(sweeper, "--jobs", sweep.jobs, "runs at the same time, 0 for one each processor");
    sweeper->add_flag("--json", sweep.json, "print JSON lines");
  }

  void add_run_commands() {
    CLI::App* eval = command(app, "eval", "loss of a run on held-out data", [this] {
      evaluation.averaged = !live_weights;
      return eval_command(run, evaluation);
    });
    add_checkpoint(eval, "run", "RUN, RUN@best or RUN@STEP");
    eval->add_option("--split", evaluation.split, "train, validation or test")
        ->capture_default_str();
    eval->add_flag("--json", evaluation.json, "print JSON");
    add_sets(eval, evaluation.sets);
    add_weights(eval);

    CLI::App* predict = command(app, "predict", "what a model says about new data", [this] {
      prediction.averaged = !live_weights;
      return predict_command(run, prediction);
    });
    add_checkpoint(predict, "run", "RUN, RUN@best or RUN@STEP");
    predict->add_option("input", prediction.input, readable_formats)->capture_default_str();
    predict->add_option("--output,-o", prediction.output, writable_names)
        ->capture_default_str()
        ->type_name("FILE");
    add_sets(predict, prediction.sets);
    add_weights(predict);

    CLI::App* sampler = command(app, "sample", "continue a prompt", [this] {
      sample.averaged = !live_weights;
      return sample_command(run, sample);
    });
    add_checkpoint(sampler, "run", "RUN, RUN@best or RUN@STEP");
    sampler->add_option("--prompt", sample.prompt, "text to continue (default: a line end)")
        ->type_name("TEXT");
    add_number(sampler, "--bytes", sample.bytes, "how many bytes to add");
    add_number(sampler, "--temperature", sample.sampling.temperature,
               "below 1 is more cautious, 0 takes the most probable byte");
    add_number(sampler, "--top-k", sample.sampling.top_k,
               "only the N most probable bytes, 0 for all");
    add_number(sampler, "--top-p", sample.sampling.top_p,
               "only the most probable bytes that together reach N");
    add_number(sampler, "--seed", sample.seed, "seed of the random numbers");
    add_weights(sampler);

    CLI::App* smaller =
        command(app, "compress",
                "loss of a field with its encoding pruned, in few bits, of low rank", [this] {
                  compression.averaged = !live_weights;
                  return compress_command(run, compression);
                });
    add_checkpoint(smaller, "run", "RUN, RUN@best or RUN@STEP");
    smaller->add_option("--prune", compression.prune, "fraction that is set to zero")
        ->check(CLI::Range(0.0, 1.0));
    smaller->add_option("--bits", compression.bits, "bits of an entry, with a unit for each row")
        ->check(CLI::Range(2, 16));
    smaller->add_option("--rank", compression.rank, "rank of two factors")
        ->check(CLI::PositiveNumber);
    smaller->add_flag("--json", compression.json, "print JSON");
    add_sets(smaller, compression.sets);
    add_weights(smaller);

    CLI::App* plot = command(app, "plot", "pictures of a run: RUN/report.html",
                             [this] { return plot_command(run, training.sets, !live_weights); });
    add_checkpoint(plot, "run", "RUN, RUN@best or RUN@STEP");
    add_sets(plot, training.sets);
    add_weights(plot);

    CLI::App* inspect = command(app, "inspect", "what a checkpoint holds",
                                [this] { return inspect_command(run, json); });
    add_checkpoint(inspect, "run", "RUN, RUN@best, RUN@STEP or a checkpoint file");
    inspect->add_flag("--json", json, "print JSON");
    CLI::App* exporter = command(app, "export", "weights as a safetensors file",
                                 [this] { return export_command(run, output, !live_weights); });
    add_checkpoint(exporter, "run", "RUN, RUN@best, RUN@STEP or a checkpoint file");
    exporter->add_option("--output,-o", output, "file to write; - for standard output")
        ->required()
        ->type_name("FILE");
    add_weights(exporter);
  }

  void add_config_commands() {
    CLI::App* group = app.add_subcommand("config", "check and print configs, list their keys");
    group->require_subcommand(1);
    CLI::App* check = command(*group, "check", "is the file in order?",
                              [this] { return config_check_command(config, training.sets); });
    CLI::App* print = command(*group, "print", "every key, also those that the file leaves out",
                              [this] { return config_print_command(config, training.sets); });
    for (CLI::App* sub : {check, print}) {
      add_config(sub);
      add_sets(sub, training.sets);
    }
    CLI::App* keys = command(*group, "keys", "all keys with type, default and meaning", [this] {
      return config_keys_command(section, markdown ? KeyFormat::markdown
                                          : json   ? KeyFormat::json
                                                   : KeyFormat::text);
    });
    keys->add_option("section", section, "only this part, for instance model.mixer");
    keys->add_flag("--json", json, "print JSON");
    keys->add_flag("--markdown", markdown, "the reference page");
  }

  void add_other_commands(int argc, char** argv) {
    CLI::App* check = command(app, "gradcheck", gradcheck_help, [this, argc, argv] {
      become_double_program(argc, argv);
      return check_gradients(gradcheck);
    });
    add_options(*check, gradcheck);
    CLI::App* group = app.add_subcommand("bench", "measure speed");
    group->require_subcommand(1);
    CLI::App* step = command(*group, "step", "training steps of a reference model",
                             [this] { return bench_step_command(model, bench); });
    step->add_option("model", model, reference_model_names())->required();
    add_number(step, "--steps", bench.steps, "steps to measure, after three that are not");
    add_number(step, "--batch", bench.batch, "sequences a step (default: the model's own number)");
    step->add_flag("--bits", bench.bits, "only a digest of the parameters after these steps");
    step->add_flag("--json", bench.json, "print JSON lines");
    CLI::App* length = command(*group, "length", "linear and softmax attention over the length",
                               [this] { return bench_length_command(bench_length); });
    add_number(length, "--longest", bench_length.longest, "from 256 to this in powers of two");
    add_number(length, "--limit", bench_length.limit,
               "seconds for a pass of softmax attention; longer ones are left out");
    length->add_flag("--checkpoint", bench_length.checkpoint,
                     "instead, a training step on the longest sequence with model.checkpoint");
    length->add_flag("--json", bench_length.json, "print JSON lines");
    CLI::App* completion =
        command(app, "completion", "shell completion: eval \"$(bochner completion bash)\"", [this] {
          if (!shell.empty()) return completion_command(shell);
          for (const std::string& word : completions(app, typed)) fmt::print("{}\n", word);
          return int(exit_done);
        });
    completion->add_option("shell", shell, "bash or zsh");
    completion->add_option("--line", typed, "what may stand in place of its last word")->group("");
  }

  CommandLine(int argc, char** argv) {
    for (int i = 0; i < argc; ++i) training.command += (i > 0 ? " " : "") + shell_word(argv[i]);
    if (argc > 0) training.program = shell_word(argv[0]);
    app.require_subcommand(1);
    app.set_version_flag("--version", [] { return version_text(); });
    if (argc > 0) app.name(std::filesystem::path(argv[0]).filename().string());
    app.footer(
        "Exit codes: 0 done, 1 failed, 2 wrong usage or config, 65 bad data, 74 cannot read or "
        "write,\n75 stopped and can be resumed.");
    add_training_commands();
    add_run_commands();
    add_config_commands();
    add_data_commands(app, data, action);
    add_kernel_commands(app, kernel, threads, action);
    add_other_commands(argc, argv);
  }
};

int fail(ExitCode code, const std::string& message) {
  std::fputs((message + "\n").c_str(), stderr);
  return code;
}

/// The files of a text stay open, and the usual limit of 1024 is for programs that use select().
void allow_many_files() {
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);  // where it fails, an error tells when files are too many
}

int run(CommandLine& line, int argc, char** argv) {
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return line.app.exit(help);
  } catch (const CLI::ParseError& error) {
    return fail(exit_usage, usage_problem(line.app, argc, argv, error));
  }
  if (line.threads > most_threads)
    throw std::invalid_argument(
        fmt::format("--threads {}: must be at most {}", line.threads, most_threads));
  set_thread_count(line.threads);
  allow_many_files();
  return line.action();
}

}  // namespace

int cli(int argc, char** argv) {
  try {
    CommandLine line(argc, argv);
    const int code = run(line, argc, argv);
    if (code == exit_done && line.prints_results) flush_output();
    return code;
  } catch (const ConfigError& error) {
    return fail(exit_usage, error.what());
  } catch (const std::invalid_argument& error) {
    return fail(exit_usage, error.what());
  } catch (const DataError& error) {
    return fail(exit_data, error.what());
  } catch (const IoError& error) {
    return fail(exit_io, error.what());
  } catch (const std::system_error& error) {  // such as those of fmt::print
    return fail(exit_io, error.what());
  } catch (const std::bad_alloc&) {
    return fail(exit_failed,
                "out of memory; lower train.batch or data.length, or set model.checkpoint = true");
  } catch (const std::exception& error) {
    return fail(exit_failed, error.what());
  }
}

}  // namespace bochner
