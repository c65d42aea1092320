#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/file_endings.hpp>
#include <bochner/data/formats/series_files.hpp>

namespace bochner {
namespace {

constexpr std::size_t header_bytes = 1 << 16;

/// A format that no reader has, by the ending of names, the first bytes, or a line that begins with
/// an @. `remedy`: what reads it
/// in Python as a table, or what to do.
struct ForeignFormat {
  const char *ending, *mark, *name, *remedy;
};
constexpr ForeignFormat foreign_formats[] = {
    {".parquet", "PAR1", "Parquet", "pandas.read_parquet(FILE)"},
    {".feather", "ARROW1", "Feather", "pandas.read_feather(FILE)"},
    {".arrow", "ARROW1", "Arrow", "pandas.read_feather(FILE)"},
    {".orc", "ORC", "ORC", "pandas.read_orc(FILE)"},
    {".xlsx", "", "Excel", "pandas.read_excel(FILE)"},
    {".xls", "\xd0\xcf\x11\xe0", "Excel", "pandas.read_excel(FILE)"},
    {".ods", "", "OpenDocument", "pandas.read_excel(FILE)"},
    {".jsonl", "", "JSON lines", "pandas.read_json(FILE, lines=True)"},
    {".ndjson", "", "JSON lines", "pandas.read_json(FILE, lines=True)"},
    {".json", "", "JSON", "pandas.read_json(FILE)"},
    {".arff", "@relation", "ARFF", "pandas.DataFrame(scipy.io.arff.loadarff(FILE)[0])"},
    {".dta", "", "Stata", "pandas.read_stata(FILE)"},
    {".sav", "", "SPSS", "pandas.read_spss(FILE)"},
    {".sas7bdat", "", "SAS", "pandas.read_sas(FILE)"},
    {".pkl", "", "pickle", "pandas.read_pickle(FILE)"},
    {".h5", "\x89HDF", "HDF5", "pandas.read_hdf(FILE)"},
    {".mat", "MATLAB 5.0", "MATLAB", "pandas.DataFrame(scipy.io.loadmat(FILE)[NAME])"},
    {".rds", "", "R", "pyreadr.read_r(FILE)[None]"},
    {".sqlite", "SQLite format 3", "SQLite", "pandas.read_sql(QUERY, sqlite3.connect(FILE))"},
    {".zip", "", "zip", ""},
    {".7z", "7z\xbc\xaf", "7-Zip", ""},
    {".rar", "Rar!", "RAR", ""},
    {".tar", "", "tar", ""},
    {".tgz", "", "tar", ""},
    {".bz2", "BZh", "bzip2", ""},
    {".xz",
     "\xfd"
     "7zXZ",
     "xz", ""},
    {".zst", "\x28\xb5\x2f\xfd", "Zstandard", ""}};

bool is_format(const ForeignFormat& format, const std::string& ending, const std::string& front) {
  const std::string mark = lower_case(format.mark);
  return (*format.ending != 0 && ending == format.ending) ||
         (!mark.empty() && front.starts_with(mark)) ||
         (mark.starts_with('@') && front.find("\n" + mark) != front.npos);
}

}  // namespace

std::string ending_of(const std::filesystem::path& file) {
  const std::filesystem::path name = lower_case(file.filename().string());
  return (name.extension() == ".gz" ? name.stem() : name).extension().string();
}

void refuse_foreign(const std::filesystem::path& file, std::string_view text) {
  if (!series_format(text).empty()) return;
  const std::string ending = ending_of(file), front = lower_case(text.substr(0, header_bytes));
  for (const ForeignFormat& format : foreign_formats) {
    if (!is_format(format, ending, front)) continue;
    const std::string remedy = format.remedy;
    throw DataError(file.string(), ": is a file of ", format.name,
                    ", which this command does not read; ",
                    remedy.empty() ? "unpack it"
                                   : "train on it in Python (pip install bochner): bochner.train(" +
                                         remedy + "), or write it as CSV: " + remedy +
                                         ".to_csv(\"table.csv\", index=False)");
  }
}

}  // namespace bochner
