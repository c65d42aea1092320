#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/formats/stored_array.hpp>
#include <bochner/train/commands/data_command_line.hpp>
#include <bochner/train/storage/output.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// How files are read. Only a conversion must decide what becomes of missing values.
void add_reading(CLI::App* sub, DataOptions& options, const char* missing) {
  sub->add_option("--columns", options.columns, "csv: only these, by name or number")
      ->type_name("LIST");
  sub->add_option("--delimiter", options.delimiter, "csv: between fields; tab for a tab")
      ->type_name("C");
  sub->add_option("--header", options.header,
                  "csv: does the first row name the columns? auto, yes, no")
      ->type_name("MODE");
  sub->add_option("--time", options.time,
                  "csv: the column of time stamps, if they look like numbers")
      ->type_name("COLUMN");
  sub->add_option("--time-format", options.time_format,
                  "csv: of time stamps, such as %d.%m.%Y %H:%M (default: ISO 8601)")
      ->type_name("FORMAT");
  sub->add_option_function<std::string>(
         "--missing", [&options](const std::string& policy) { options.missing = policy; },
         std::string("csv: missing values: refuse, nan, forward or mean (default: ") + missing +
             ")")
      ->type_name("POLICY");
  sub->add_option("--array", options.array, "npz: which array")->type_name("NAME");
  sub->preparse_callback([&options, missing](std::size_t) { options.missing = missing; });
}

void add_files(CLI::App* sub, DataOptions& options) {
  sub->add_option("files", options.files, readable_formats)->required()->type_name("FILE");
}

}  // namespace

void add_data_commands(CLI::App& app, DataOptions& options, std::function<int()>& action) {
  CLI::App* group = app.add_subcommand("data", "look at files of numbers and convert them");
  group->require_subcommand(1);
  const auto command = [&](const char* name, const char* help, int (*run)(const DataOptions&),
                           const char* missing) {
    CLI::App* sub = group->add_subcommand(name, help);
    sub->callback([&options, &action, run] { action = [&options, run] { return run(options); }; });
    add_reading(sub, options, missing);
    return sub;
  };
  CLI::App* info = command("info", "kind, shape and columns", data_info_command, "nan");
  CLI::App* peek = command("peek", "the first rows", data_peek_command, "nan");
  peek->add_option("--rows", options.rows, "how many")->capture_default_str()->type_name("N");
  for (CLI::App* sub : {info, peek}) {
    add_files(sub, options);
    sub->add_flag("--json", options.json, "print JSON lines");
  }
  CLI::App* convert =
      command("convert", "write a file in another format", data_convert_command, "refuse");
  add_files(convert, options);
  convert->get_option("files")->expected(1);
  convert->add_option("--output,-o", options.output, writable_names)->required()->type_name("FILE");
  convert
      ->add_option("--type", options.type,
                   "of the elements in .npy and .npz: " + element_type_names())
      ->type_name("TYPE");
  convert->add_flag("--compressed", options.compressed, "npz: deflate the arrays");
}

}  // namespace bochner::inline BOCHNER_PRECISION
