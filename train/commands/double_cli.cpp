#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <bochner/train/commands/cli.hpp>
#include <bochner/train/commands/exit_codes.hpp>
#include <bochner/train/commands/gradcheck.hpp>
#include <bochner/train/run/version.hpp>

namespace bochner {

/// The program in double precision, for gradients alone.
int cli(int argc, char** argv) {
  CLI::App app{"bochner in double precision: it checks gradients, all else is done in float"};
  GradcheckOptions options;
  app.require_subcommand(1);
  app.set_version_flag("--version", [] { return version_text(); });
  add_options(*app.add_subcommand("gradcheck", gradcheck_help), options);
  try {
    app.parse(argc, argv);
    return check_gradients(options);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return dynamic_cast<const CLI::Error*>(&error) ||
                   dynamic_cast<const std::invalid_argument*>(&error)
               ? exit_usage
               : exit_failed;
  }
}

}  // namespace bochner
