#include <sys/resource.h>

#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/commands/cli.hpp>
#include <bochner/train/commands/program_scope.hpp>
#include <bochner/train/commands/shared_work.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/distributed/mpi.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <cstdio>
#include <new>
#include <system_error>

namespace bochner {

/// Function that adds a command or a group, defined in the file of that name.
using AddCommand = void(const Command& program);

AddCommand add_train, add_resume, add_fork, add_sweep, add_eval, add_predict, add_sample,
    add_compress, add_plot, add_inspect, add_export, add_import, add_config, add_kernel, add_probe,
    add_gradcheck, add_bench, add_completion, add_init, add_metrics, add_data, add_compare,
    add_watch;

namespace {

// In the order of the help.
constexpr AddCommand* all_commands[] = {
    add_init,    add_train,   add_resume,    add_fork,    add_sweep,     add_watch,
    add_compare, add_eval,    add_predict,   add_metrics, add_sample,    add_compress,
    add_plot,    add_inspect, add_export,    add_import,  add_config,    add_data,
    add_kernel,  add_probe,   add_gradcheck, add_bench,   add_completion};

std::string version_of_program() { return version_text() + "\nprocesses  " + mpi_in_words(); }

std::string licenses_of_program() { return version_line() + "\n\n" + std::string(license_text()); }

constexpr ProgramTexts program_texts{
    .help = "bochner: train long-sequence models whose attention kernels are learned",
    .version = version_of_program,
    .licenses = licenses_of_program,
    .footer =
        "Exit codes: 0 done, 1 failed, 2 wrong usage or config, 65 bad data, 74 cannot read or "
        "write,\n75 stopped and can be resumed.",
    .option_advice = key_advice};

int fail_with(ExitCode code, const char* message) {
  std::fputs((printable(message) + "\n").c_str(), stderr);
  return code;
}

/// Raises the limit of open files, since the files of a text stay open. The usual 1024 serves
/// programs that use select().
void allow_many_files() {
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);  // on failure, too many files are an error later
}

/// Refuses mpirun for commands that share no work: each process would do the same and overwrite the
/// files of the others.
void begin_command(const CommandLine& line, const CommandTraits& command) {
  if (command.memory_advice) out_of_memory = command.memory_advice;
  if (launched_processes() == 1 || command.is_shared) return;
  std::vector<std::string> shared;
  for (const CommandTraits& each : line.traits())
    if (each.is_shared) shared.push_back(each.name);
  const std::string last = shared.back();
  shared.pop_back();
  throw std::invalid_argument(in_words("mpirun: only ", joined(shared), " and ", last,
                                       " share their work among processes; start ", command.name,
                                       " without mpirun"));
}

int run_program(int argc, char** argv) {
  out_of_memory = usual_memory_advice;
  CommandLine line(argc, argv, program_texts);
  line.begin = [&](const CommandTraits& command) { begin_command(line, command); };
  for (AddCommand* add : all_commands) add(line.program());
  allow_many_files();
  const int code = line.run();
  if (code == exit_done && line.needs_reader) flush_output();
  return code;
}

constexpr const char* no_thread =
    "cannot start a thread: raise the limits of memory and processes (ulimit -v, ulimit -u)";

int fail_without_memory() {
  std::fputs(out_of_memory, stderr);
  std::fputs("\n", stderr);
  return exit_failed;
}

}  // namespace

// If memory is too short even for an error message, the terminate handler prints the last line.
int cli(int argc, char** argv) noexcept {
  const ProgramScope scope;
  try {
    return run_program(argc, argv);
  } catch (const ReportedByFirst& reported) {
    return reported.code;
  } catch (const ConfigError& error) {
    return fail_with(exit_usage, error.what());
  } catch (const std::invalid_argument& error) {
    return fail_with(exit_usage, error.what());
  } catch (const DataError& error) {
    return fail_with(exit_data, error.what());
  } catch (const IoError& error) {
    return fail_with(exit_io, error.what());
  } catch (const std::system_error& error) {  // such as those of fmt::print
    if (error.code() == std::errc::resource_unavailable_try_again &&
        error.what() == error.code().message())
      return fail_with(exit_failed, no_thread);
    if (error.code() == std::errc::not_enough_memory) return fail_without_memory();
    return fail_with(exit_io, error.what());
  } catch (const std::bad_alloc&) {
    return fail_without_memory();
  } catch (const std::length_error&) {  // more than any memory holds
    return fail_without_memory();
  } catch (const StoppedError& error) {
    return fail_with(exit_stopped, error.what());
  } catch (const std::exception& error) {
    return fail_with(exit_failed, error.what());
  } catch (...) {
    return fail_with(exit_failed, "unknown exception (not a std::exception)");
  }
}

}  // namespace bochner
