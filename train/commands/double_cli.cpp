#include <bochner/train/commands/cli.hpp>
#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/commands/gradcheck_config.hpp>
#include <bochner/train/commands/program_scope.hpp>
#include <bochner/train/commands/trained_model.hpp>
#include <bochner/train/run/version.hpp>
#include <cstdio>

namespace bochner {

void add_gradcheck(const Command& program);

namespace {
[[noreturn]] void refuse(const char* what) {
  throw std::invalid_argument(
      std::string("[") + what +
      "] runs and their files hold floats; use the program in single precision");
}
}  // namespace

ConfigModel model_of_config(const std::string&, const std::vector<std::string>&) {
  throw std::invalid_argument(
      "configs are read in single precision: use NAME gradcheck, not NAME64");
}
std::shared_ptr<Module> trained_module(const std::string&) { refuse("trained_model"); }
void write_tensors(const std::string&, const std::vector<NamedTensor>&) { refuse("write_tensors"); }
void read_tensors(const std::string&, const std::vector<NamedTensor>&) { refuse("read_tensors"); }

/// Program in double precision, which only checks gradients.
int cli(int argc, char** argv) noexcept {
  const ProgramScope scope;
  try {
    CommandLine line(
        argc, argv,
        {.help = "bochner in double precision: checks gradients only",
         .version = version_text,
         .command_advice = "In double precision only gradcheck is available; use bochner"});
    add_gradcheck(line.program());
    const int code = line.run();
    if (std::fflush(stdout) == 0) return code;
    std::perror("standard output: cannot write");
    return exit_io;
  } catch (const std::exception& error) {
    std::fputs((error.what() + std::string("\n")).c_str(), stderr);
    return dynamic_cast<const std::invalid_argument*>(&error) ? exit_usage : exit_failed;
  } catch (...) {
    std::fputs("unknown exception (not a std::exception)\n", stderr);
    return exit_failed;
  }
}

}  // namespace bochner
