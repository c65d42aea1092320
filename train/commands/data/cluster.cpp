#include <fmt/format.h>

#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/commands/data/table_options.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/studies/clustering.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t most_columns = 64, most_components = 64;
constexpr double most_numbers = 5e6;     // rows times columns
constexpr double most_gibbs_work = 2e5;  // rows times columns squared

struct ClusterCommand : DataOptions {
  ClusteringOptions how;
  std::optional<std::size_t> components, most, factors;
  std::optional<double> concentration;
  std::string output, report;
};

void require_no(bool given, const char* option, const std::string& method, const char* others) {
  demand(!given, "{} has no effect with --method {}; it applies to {}", option, method, others);
}

/// Returns the settings of the study. Throws std::invalid_argument for options out of range and
/// those that do not apply to the method.
ClusteringOptions clustering_options(const ClusterCommand& options) {
  ClusteringOptions how = options.how;
  const ClusteringMethod& method = clustering_method(how.method);
  require_no(method.finds_number && options.components, "--components", how.method,
             "em, variational and ppca");
  require_no(method.finds_number && options.most, "--most", how.method, "em, variational and ppca");
  require_no(how.method != "ppca" && options.factors, "--factors", how.method, "ppca");
  require_no(method.takes_missing && options.concentration, "--concentration", how.method,
             "variational and dirichlet");
  demand(!options.components || !options.most,
         "--components and --most exclude each other; give one");
  for (const auto& [name, count] : {std::pair{"--components", options.components},
                                    {"--most", options.most},
                                    {"--factors", options.factors}})
    demand(!count || (*count >= 1 && *count <= most_components), "{} {}: must be between 1 and {}",
           name, count.value_or(0), most_components);
  how.components = options.components.value_or(0);
  how.most = options.most.value_or(how.most);
  how.factors = options.factors.value_or(how.factors);
  how.concentration = options.concentration.value_or(how.concentration);
  demand(how.concentration > 0 && how.concentration <= 1e6,
         "--concentration {}: must be greater than 0 and at most 1e6", how.concentration);
  const std::string& output = options.output;
  demand(output.empty() || output == "-" || ends_in(output, ".csv") || is_array_file(output),
         "{}: {}", output, writable_names);
  demand(options.report != "-", "--report -: standard output is used for text; name a file");
  demand(!options.json || options.output != "-",
         "--json and --output - both print on standard output; name a file");
  return how;
}

/// Returns the columns that are not times, and notes the others on stderr.
std::vector<std::size_t> number_columns(const NamedArray& array) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < array.values.shape(1); ++i) {
    if (array.time != i && std::ranges::count(array.more_times, i) == 0)
      columns.push_back(i);
    else
      fmt::print(stderr, "note     column {} holds times; left out\n",
                 printable(column_name(array, i)));
  }
  return columns;
}

/// Gives a column mean 0 and deviation 1. Throws DataError if it is constant.
void standardize(ClusteredTable& table, std::size_t column) {
  const std::size_t d = table.columns.size(), n = table.rows.size();
  double* first = table.rows.values.data() + column;
  double mean = 0, square = 0, count = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isnan(first[i * d])) mean += first[i * d], ++count;
  mean /= std::max(count, 1.0);
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isnan(first[i * d])) square += (first[i * d] - mean) * (first[i * d] - mean);
  const double deviation = std::sqrt(square / std::max(count, 1.0));
  if (!(deviation > 1e-12 * std::fabs(mean)) || !std::isfinite(deviation))
    throw DataError(table.name, ": column \"", table.columns[column],
                    deviation <= 1e-12 * std::fabs(mean) || count == 0
                        ? "\" is constant; leave it out with --columns"
                        : "\" has numbers that are too large; scale it");
  table.mean[column] = mean, table.deviation[column] = deviation;
  for (std::size_t i = 0; i < n; ++i) first[i * d] = (first[i * d] - mean) / deviation;
}

/// Returns the rows that the method can use, ascending.
std::vector<std::size_t> usable_rows(const NamedArray& array,
                                     const std::vector<std::size_t>& columns, bool takes_missing) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < array.values.shape(0); ++i) {
    const auto missing = std::ranges::count_if(
        columns, [&](std::size_t j) { return std::isnan(array.values(i, j)); });
    if (missing == 0 || (takes_missing && std::size_t(missing) < columns.size())) rows.push_back(i);
  }
  return rows;
}

void require_size(const ClusteredTable& table, const ClusteringOptions& how) {
  const std::size_t n = table.rows.size(), d = table.columns.size();
  const double numbers = double(n) * double(d);
  const auto fits = [&](bool holds, const std::string& problem) {
    if (!holds) throw DataError(table.name, ": ", problem);
  };
  fits(d >= 1 && d <= most_columns, fmt::format("{} columns of numbers; choose 1 to {} with "
                                                "--columns",
                                                d, most_columns));
  fits(n >= 10, format_number_of(n, "usable row") + "; needs at least 10");
  fits(how.components * 5 <= n * 2, fmt::format("{} components of {} rows; needs at least 2.5 "
                                                "rows for each",
                                                how.components, n));
  fits(numbers <= most_numbers, fmt::format("{} rows of {} columns; at most {:g} numbers are "
                                            "clustered",
                                            n, d, most_numbers));
  fits(how.method != "dirichlet" || numbers * double(d) <= most_gibbs_work,
       fmt::format("{} rows of {} columns are too many for dirichlet; try --method variational", n,
                   d));
  demand(how.method != "ppca" || how.factors < d,
         "--factors {}: must be less than the number of columns, {}", how.factors, d);
}

/// Reads and standardizes the usable rows; their numbers go to `used`.
ClusteredTable standard_table(const ClusterCommand& options, const NamedArray& array,
                              const ClusteringOptions& how, std::vector<std::size_t>& used) {
  ClusteredTable table;
  table.name = options.files[0];
  const std::vector<std::size_t> columns = number_columns(array);
  used = usable_rows(array, columns, clustering_method(how.method).takes_missing);
  for (const std::size_t column : columns) table.columns.push_back(column_name(array, column));
  table.rows = {columns.size(), {}};
  for (const std::size_t row : used)
    for (const std::size_t column : columns) table.rows.values.push_back(array.values(row, column));
  require_size(table, how);
  if (const std::size_t lost = array.values.shape(0) - used.size(); lost > 0)
    fmt::print(stderr, "note     {} with missing values left out\n", format_number_of(lost, "row"));
  table.mean.resize(columns.size()), table.deviation.resize(columns.size());
  for (std::size_t j = 0; j < columns.size(); ++j) standardize(table, j);
  return table;
}

/// Returns label from 1, responsibilities and log density of all rows; NaN for rows left out.
NamedArray label_table(const ClusteredTable& table, const std::vector<std::size_t>& used,
                       std::size_t rows) {
  const std::size_t K = table.clustering.components.size(), width = K + 2;
  NamedArray result{xt::xarray<double>::from_shape({rows, width}), {"label"}};
  result.values.fill(std::nan(""));
  for (std::size_t k = 0; k < K; ++k)
    result.columns.push_back(fmt::format("responsibility_{}", k + 1));
  result.columns.push_back("log_density");
  for (std::size_t i = 0; i < used.size(); ++i) {
    result.values(used[i], 0) = double(table.labels[i] + 1);
    for (std::size_t k = 0; k < K; ++k)
      result.values(used[i], k + 1) = table.posterior.responsibilities[i * K + k];
    result.values(used[i], K + 1) = table.posterior.log_density[i];
  }
  return result;
}

void print_scores(const std::vector<HeldOutScore>& scores) {
  if (scores.size() == 1)
    return fmt::print("held out {:.4f} nats a row of standardized columns, error {:.4f}\n",
                      scores[0].mean, scores[0].error);
  TextTable lines{{"components", "held_out", "error", "below_best", "below_error"}};
  for (const auto& [K, mean, error, below, below_error] : scores) {
    lines.push_back({std::to_string(K)});
    for (const double number : {mean, error, below, below_error})
      lines.back().push_back(fmt::format("{:.4f}", number));
  }
  fmt::print("log likelihood of held-out rows, nats a row of standardized columns\n");
  print_table(lines);
}

void print_text(const ClusteredTable& table, const std::string& choice) {
  fmt::print("{}   {} of {}, standardized to mean 0 and deviation 1\n", printable(table.name),
             format_number_of(table.rows.size(), "row"),
             format_number_of(table.columns.size(), "column"));
  print_scores(table.scores);
  fmt::print("chosen   {}\n", choice);
  const Table components = component_table(table);
  TextTable lines{components.headers};
  lines.insert(lines.end(), components.rows.begin(), components.rows.end());
  print_table(lines);
}

void print_json(const ClusteredTable& table, const std::string& choice) {
  print_line({{"file", table.name},
              {"method", table.method},
              {"rows", table.rows.size()},
              {"columns", table.columns},
              {"mean", table.mean},
              {"deviation", table.deviation},
              {"chosen", table.clustering.components.size()},
              {"reason", choice}});
  for (const auto& [K, mean, error, below, below_error] : table.scores)
    print_line({{"components", K == 0 ? Json() : Json(K)},
                {"held_out", mean},
                {"error", error},
                {"below_best", below},
                {"below_error", below_error}});
  const std::vector<std::size_t> counts = label_counts(table);
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const auto& [share, mean, covariance] = table.clustering.components[k];
    print_line({{"component", k + 1},
                {"share", share},
                {"rows", counts[k]},
                {"standardized_mean", mean},
                {"standardized_covariance", covariance}});
  }
}

void data_cluster_command(const ClusterCommand& options) {
  const ClusteringOptions how = clustering_options(options);
  for (const std::string& file : {options.output, options.report})
    if (!file.empty() && file != "-") require_folder(file);
  NamedArray array = read_array(options.files[0], read_options(options));
  if (array.values.dimension() == 1) array.values.reshape({array.values.size(), 1});
  if (array.values.dimension() != 2)
    throw DataError(options.files[0], ": has ", array.values.dimension(),
                    " axes; a table has rows and columns");
  std::vector<std::size_t> used;
  ClusteredTable table = standard_table(options, array, how, used);
  fit_clusters(table, how);
  const std::string choice = choice_in_words(table, how);
  if (options.json)
    print_json(table, choice);
  else if (options.output != "-")
    print_text(table, choice);
  if (!options.output.empty())
    write_array(options.output, label_table(table, used, array.values.shape(0)));
  if (!options.report.empty())
    write_output(options.report,
                 [&](const Sink& sink) { sink(clustering_page(table, choice).html()); });
  for (const auto& [kind, file] : {std::pair{"labels", options.output}, {"report", options.report}})
    if (!file.empty() && file != "-" && options.output != "-" && !options.json)
      fmt::print("{}   {}\n", kind, file);
}

}  // namespace

void add_data_cluster(const Command& group) {
  const auto [command, options] =
      group.command("cluster", "cluster the rows of a table", data_cluster_command);
  std::string methods;
  for (const ClusteringMethod& one : clustering_methods())
    methods += fmt::format("{}{}: {}", methods.empty() ? "" : "; ", one.name, one.help);
  command.option("files", &options.files, readable_formats, "TABLE").required().single();
  command.option("--method", &options.how.method, methods, "NAME").shows_default();
  command.option("--components", &options.components,
                 "number of components (default: chosen on held-out rows)", "N");
  command.option("--most", &options.most, "largest number of components tried (default: 8)", "N");
  command.option("--factors", &options.factors, "factors of ppca (default: 1)", "N");
  command.option("--concentration", &options.concentration,
                 "of variational and dirichlet: more for more components (default: 1)", "X");
  command.number("--seed", &options.how.seed, "seed of starts, draws and held-out parts");
  command.option(
      "--output,-o", &options.output,
      std::string("labels, responsibilities and log densities of the rows; ") + writable_names,
      "FILE");
  command.option("--report", &options.report, "also write a page with charts", "FILE");
  command.flag("--json", &options.json, "print JSON lines");
  add_reading(command, options, "refuse");
}

}  // namespace bochner
