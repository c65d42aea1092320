#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/train/tasks/config_templates/series_inference.hpp>
#include <functional>

#include "data/messages.hpp"
#include "train/tasks/config_templates/template_fixture.hpp"

namespace bochner {
namespace config_template_test {

using testing::HasSubstr;
using namespace template_fixture;

TEST_F(Starter, EveryKindIsAGoodConfig) {
  for (const std::string& kind : config_template_kinds()) {
    const Config config = read_config_text(config_template(kind), kind, {});
    EXPECT_EQ(config.text("model.kind"), kind == "table"               ? "ensemble"
                                         : kind == "series_classifier" ? "classifier"
                                                                       : kind);
  }
  EXPECT_THAT(message_of<std::invalid_argument>([] { config_template("lmm"); }),
              HasSubstr("lmm: no such kind; choose \"lm\", "));
}

TEST_F(Starter, TextsAreForALanguageModel) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "a line of words, " + std::to_string(i * i) + "\n";
  const Config config = config_for(write("notes.txt", text));
  EXPECT_EQ(config.text("data.kind"), "bytes");
  write("texts/a/one", text);
  write("texts/two.md", text);
  EXPECT_EQ(config_for(folder_.path() / "texts").count("data.length"), 128u);
  EXPECT_EQ(
      config_for(write("short.txt", "only some words here, and no more")).count("data.length"), 2u);
}

TEST_F(Starter, DatesMakeASeries) {
  const auto row = [](std::size_t i) { return day(i) + ";" + std::to_string(i) + ",5;a;2"; };
  const Config config = config_for(write("load.csv", table("day;load;note;wind", 200, row)));
  EXPECT_EQ(config.text("model.kind"), "ensemble");
  EXPECT_EQ(config.text_list("data.columns"), (std::vector<std::string>{"load", "wind"}));
  EXPECT_EQ(config.text("data.time_column"), "day");
  EXPECT_EQ(config.count("data.horizon"), 7u);
  EXPECT_EQ(config.count("data.pause"), 0u);
  const auto numbers = [](std::size_t i) {
    return std::to_string(i % 7) + "," + std::to_string(i);
  };
  EXPECT_EQ(config_for(write("plain.csv", table("1,2", 60, numbers))).text("model.kind"),
            "ensemble");
}

/// The first of several columns of dates is the time; the others are not forecast.
TEST_F(Starter, NamesTheTimeAmongDates) {
  const auto two = [](std::size_t i) {
    return day(i) + "," + std::to_string(i % 7) + "," + day(i + 3);
  };
  const Config config = config_for(write("two.csv", table("date,load,updated", 200, two)));
  EXPECT_EQ(config.text("data.time_column"), "date");
  EXPECT_EQ(config.text_list("data.columns"), std::vector<std::string>{"load"});
  const auto months = [](std::size_t i) {
    return day(31 * i).substr(5, 2) + "." + day(31 * i).substr(0, 4) + "," + std::to_string(i) +
           ".25";
  };
  EXPECT_EQ(config_for(write("mon.csv", table("month,load", 60, months))).text("model.kind"),
            "ensemble");
}

TEST_F(Starter, ATableWithASeriesInEachRowIsWide) {
  std::string text = "id";
  for (int i = 2; i < 60; ++i) text += ",V" + std::to_string(i);
  for (int series = 0; series < 4; ++series) {
    text += "\ns" + std::to_string(series);
    for (int i = 2; i < 60; ++i)
      text += i < 58 - series ? "," + std::to_string(i % 7 + series) : ",";
  }
  const Config config = config_for(write("wide.csv", text + "\n"));
  EXPECT_EQ(config.text("model.kind"), "ensemble");
  EXPECT_EQ(config.text("data.layout"), "wide");
  EXPECT_EQ(config.text_list("data.series"), std::vector<std::string>{"id"});
  EXPECT_EQ(config.number_list("model.seasons"), std::vector<double>{7});
}

/// Random held-out rows would lie between known rows.
TEST_F(Starter, NumbersCalledATimeMakeASeries) {
  const auto of = [&](const char* header, const std::function<double(std::size_t)>& time) {
    return config_for(write("numbers.csv", table(header, 300, [&](std::size_t i) {
                              return std::to_string((long long)time(i)) + "," +
                                     std::to_string(i % 7) + "," + std::to_string(i % 5);
                            })));
  };
  const Config seconds =
      of("Timestamp,a,b", [](std::size_t i) { return 1.7e9 + 60.0 * double(i); });
  EXPECT_EQ(seconds.text("model.kind"), "ensemble");
  EXPECT_EQ(seconds.text("data.time_column"), "Timestamp");
  EXPECT_EQ(seconds.text("data.time_format"), "%s");
  EXPECT_EQ(seconds.text_list("data.columns"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(of("time,a,b", [](std::size_t i) { return 1.7e12 + 250.0 * double(i); })
                .text("data.time_format"),
            "%Q");
  const auto digits = [](std::size_t i) {
    std::string date = day(i);
    std::erase(date, '-');
    return std::stod(date);
  };
  EXPECT_EQ(of("date,a,b", digits).text("data.time_format"), "%Y%m%d");
  EXPECT_EQ(of("time,a,b", [](std::size_t i) { return double(i % 100); }).text("data.kind"),
            "table");
  EXPECT_EQ(of("width,a,b", [](std::size_t i) { return double(i); }).text("data.kind"), "table");
}

TEST_F(Starter, IrregularTimesAreSeen) {
  std::size_t time = 0;
  const Config config = config_for(write("uneven.csv", table("date,load", 300, [&](std::size_t i) {
                                           time += 1 + i * i % 5;
                                           return format_time(1.7e9 + 600.0 * double(time)) + "," +
                                                  std::to_string(i % 7);
                                         })));
  EXPECT_EQ(config.text("model.backbone"), "rows");
  EXPECT_TRUE(config.flag("data.stamps"));
  EXPECT_EQ(config.text("model.time.use"), "rotate");
}

TEST_F(Starter, SeriesCompeteWithTheSeasonsOfTheirCalendar) {
  const auto config_of = [&](const char* name, double step, std::size_t rows) {
    const auto row = [&](std::size_t i) {
      return format_time(1.7e9 + step * double(i)) + "," + std::to_string(i * i % 17);
    };
    return config_for(write(name, table("time,load", rows, row)));
  };
  const Config hours = config_of("hours.csv", 3600, 800);
  EXPECT_EQ(hours.text("model.kind"), "ensemble");
  EXPECT_EQ(hours.number_list("model.seasons"), (std::vector<double>{24, 168}));
  EXPECT_EQ(hours.count("data.horizon"), 24u);
  EXPECT_EQ(hours.count("data.lookback"), 192u);
  EXPECT_EQ(hours.count("data.pause"), 0u) << "missing rows are filled in";
  EXPECT_EQ(config_of("few.csv", 3600, 100).number_list("model.seasons"), std::vector<double>{24});
  EXPECT_EQ(config_of("days.csv", 86400, 400).number_list("model.seasons"), std::vector<double>{7});
}

TEST_F(Starter, SeasonsWithoutDatesAreThoseOfTheValues) {
  const auto wave = [](std::size_t i) {
    return std::to_string(double(i) + 9 * std::sin(0.5 * double(i)));
  };
  const Config config = config_for(write("wave.csv", table("load", 200, wave)));
  EXPECT_EQ(config.number_list("model.seasons"), std::vector<double>{13});
  const auto noise = [](std::size_t i) { return std::to_string(i * i * i % 101); };
  EXPECT_TRUE(config_for(write("noise.csv", table("load", 200, noise)))
                  .number_list("model.seasons")
                  .empty());
}

TEST_F(Starter, TimesAndTypesAreEvents) {
  const auto row = [](std::size_t i) {
    return day(i / 2) + (i % 2 == 0 ? " 08:00" : " 17:30") + "," + (i % 3 == 0 ? "in" : "out");
  };
  const Config config = config_for(write("log.csv", table("when,type", 120, row)));
  EXPECT_EQ(config.text("model.kind"), "events");
  const Config other = config_for(write("log.tsv", table("when,action", 120, row)));
  EXPECT_EQ(other.text("data.type_column"), "action");
}

/// Several series share their days, one after the other or side by side.
TEST_F(Starter, ColumnsTellSeriesApart) {
  const auto stores = [&](const char* header, bool side_by_side, const auto& id) {
    return write("stores.csv", table(header, 240, [&](std::size_t i) {
                   const std::size_t store = side_by_side ? i % 3 : i / 80;
                   return day(side_by_side ? i / 3 : i % 80) + "," + id(store) + "," +
                          std::to_string(i % 7) + ".5";
                 }));
  };
  const auto name = [](std::size_t store) { return std::string(1, char('a' + store)); };
  const auto number = [](std::size_t store) { return std::to_string(100 + store); };
  for (const bool side_by_side : {false, true}) {
    const Config config = config_for(stores("date,type,sales", side_by_side, name));
    EXPECT_EQ(config.text("model.kind"), "ensemble");
    EXPECT_EQ(config.text_list("data.series"), std::vector<std::string>{"type"});
    EXPECT_EQ(config.text_list("data.columns"), std::vector<std::string>{"sales"});
    EXPECT_EQ(config_for(stores("date,nr,sales", side_by_side, number)).text_list("data.series"),
              std::vector<std::string>{"nr"});
  }
  const auto both = write("both.csv", table("date,shop,item,sales", 320, [](std::size_t i) {
                            return day(i / 4) + (i % 2 ? ",n,x" : ",s,") + (i % 4 < 2 ? "x" : "y") +
                                   "," + std::to_string(i % 9) + ".25";
                          }));
  EXPECT_THAT(config_template_for(both), testing::Not(HasSubstr("series = [\"shop\"]")));
}

/// Columns without conventional names.
TEST_F(Starter, EventLogsAreKnownByWhatTheyHold) {
  const auto log = [&](const char* header, const auto& row) {
    return write("log.csv", table(header, 300, [&](std::size_t i) {
                   return format_time(1.7e9 + 1000 * double(i) + double(i * i % 97)) + row(i);
                 }));
  };
  Config config = config_for(log("Zeit;Kunde;Ereignis", [](std::size_t i) {
    return ";K" + std::to_string(i * i % 11) + (i % 3 ? ";Kauf" : ";Ansicht");
  }));
  EXPECT_EQ(config.text("model.kind"), "events");
  EXPECT_EQ(config.text("data.type_column"), "Ereignis");
  EXPECT_EQ(config.text("data.sequence_column"), "Kunde");
  config = config_for(log("timestamp,user_id,event_type,page", [](std::size_t i) {
    return "," + std::to_string(i * i % 11) + (i % 3 ? ",buy,/" : ",view,/") +
           std::to_string(i % 5);
  }));
  EXPECT_EQ(config.text("data.type_column"), "event_type");
  EXPECT_EQ(config.text("data.sequence_column"), "user_id");
  const auto of_numbers = [](std::size_t i) {
    return "u" + std::to_string(i / 30) + "," + std::to_string(i % 30) + ".25" +
           (i % 3 ? ",buy" : ",view");
  };
  config = config_for(write("clicks.csv", table("user,time,what", 240, of_numbers)));
  EXPECT_EQ(config.text("data.type_column"), "what");
  EXPECT_EQ(config.text("data.sequence_column"), "user");
}

TEST_F(Starter, OtherTablesAreForARegression) {
  const auto row = [](std::size_t i) {
    return std::to_string(i) + "," + std::to_string(i * i % 17) + "," + std::to_string(i % 5);
  };
  const Config config = config_for(write("cars.csv", table("power,weight,price", 50, row)));
  EXPECT_EQ(config.text("model.kind"), "ensemble");
  EXPECT_EQ(config.text("data.kind"), "table");
  EXPECT_EQ(config.text("data.target"), "price");
}

TEST_F(Starter, FoldersOfTextsAreLabels) {
  for (int i = 0; i < 12; ++i)
    for (const char* label : {"spam", "ham"})
      write("mails/" + std::string(label) + "/" + std::to_string(i),
            label + std::string(" and so"));
  write("mails/README.txt", "what they are");
  const Config config = config_for(folder_.path() / "mails");
  EXPECT_EQ(config.text("data.kind"), "texts");
  EXPECT_EQ(config.text("model.kind"), "bag_of_words");
  const auto row = [](std::size_t i) { return i % 2 == 0 ? "good,\"fine, yes\"" : "bad,no"; };
  EXPECT_EQ(config_for(write("reviews.csv", table("sentiment,review", 40, row)))
                .text("data.label_column"),
            "sentiment");
}

TEST_F(Starter, SaysWhatToDoWhereItCannotTell) {
  const auto problem = [&](const std::string& name, const std::string& text) {
    return message_of<DataError>([&] { config_template_for(write(name, text)); });
  };
  EXPECT_THAT(problem("empty", ""), HasSubstr("empty: is empty"));
  EXPECT_THAT(problem("program", std::string("\x7f"
                                             "ELF\0\1",
                                             6)),
              HasSubstr("is neither text nor"));
  EXPECT_THAT(problem("words.csv", "a,b\nx,y\nz,w\n"), HasSubstr("bochner init"));
  EXPECT_THAT(problem("latin.csv", "day,Erl\xf6s\n2024-01-01,5\n"),
              HasSubstr("is not UTF-8, which configs are; convert the file: iconv"));
  EXPECT_THAT(problem("utf8.csv", "a,Erl\xc3\xb6s\nx,y\n"), HasSubstr("bochner init"));
}

/// One deviating cell of many is a mistake, also among words; an eighth of the cells make words.
TEST_F(Starter, TakesNoMistakeForAColumnOfWords) {
  const auto with = [&](const std::string& cell, std::size_t every) {
    const auto row = [&](std::size_t i) {
      return day(i) + "," + (i % every == 7 ? cell : std::to_string(i)) + "," + std::to_string(i);
    };
    return write("a.csv", table("day,load,wind", 180, row));
  };
  EXPECT_THAT(
      message_of<DataError>([&] { config_template_for(with("n.a.", 100)); }),
      HasSubstr("a.csv: column \"load\": row 109 has \"n.a.\" where other rows have numbers; "
                "correct it, or leave it empty if it is missing"));
  EXPECT_THAT(config_template_for(with("", 100)), HasSubstr("missing = \"forward\""));
  EXPECT_THAT(config_for(with("n.a.", 8)).text_list("data.columns"), testing::ElementsAre("wind"));
  const auto row = [](std::size_t i) {
    return (i == 59 ? "31.02.2024" : day(i)) + "," + std::to_string(i);
  };
  EXPECT_THAT(
      message_of<DataError>(
          [&] { config_template_for(write("b.csv", table("day,load", 180, row))); }),
      HasSubstr("b.csv: column \"day\": row 61 has \"31.02.2024\" where other rows have dates"));
}

TEST_F(Starter, NamesFormatsThatItDoesNotRead) {
  const auto problem = [&](const std::string& name, const std::string& text) {
    return message_of<DataError>([&] { config_template_for(write(name, text)); });
  };
  EXPECT_THAT(problem("a.parquet", "PAR1.."),
              HasSubstr("is a file of Parquet, which this command does not read; train on it in "
                        "Python (pip install bochner): bochner.train(pandas.read_parquet(FILE)), "
                        "or write it as CSV: pandas.read_parquet(FILE).to_csv(\"table.csv\""));
  EXPECT_THAT(problem("part-0000", "PAR1.."), HasSubstr("Parquet"));
  EXPECT_THAT(problem("a.XLSX", "PK\3\4"), HasSubstr("Excel"));
  EXPECT_THAT(problem("a.json", "[1, 2]"), HasSubstr("pandas.read_json(FILE)"));
  EXPECT_THAT(problem("a.jsonl", "{}\n{}\n"), HasSubstr("lines=True"));
  EXPECT_THAT(problem("iris.txt", "% a comment\n@RELATION iris\n@DATA\n1,2\n"), HasSubstr("ARFF"));
  EXPECT_THAT(config_template_for(write("a.ts", "let x: number = 5;\n")),
              HasSubstr("kind = \"lm\""));
}

/// Rows of values are a table, whatever the name; sentences with numbers are text.
TEST_F(Starter, TablesMayBeCalledTexts) {
  const auto row = [](std::size_t i) { return day(i) + " " + std::to_string(20 + i * i % 17); };
  EXPECT_EQ(config_for(write("a.txt", table("day load", 150, row))).text("model.kind"), "ensemble");
  const auto note = [](std::size_t i) { return "a note with the number " + std::to_string(i); };
  EXPECT_THAT(config_template_for(write("b.txt", table("notes", 150, note))),
              HasSubstr("kind = \"lm\""));
}

TEST_F(Starter, LeavesEmptyColumnsOut) {
  const auto row = [](std::size_t i) { return day(i) + ",," + std::to_string(i); };
  const Config config = config_for(write("a.csv", table("day,store,sales", 180, row)));
  EXPECT_THAT(config.text_list("data.columns"), testing::ElementsAre("sales"));
}

TEST_F(Starter, TellsDataFromConfigs) {
  EXPECT_TRUE(is_data(write("a.txt", "the end of the\nmodel. And so on\n[data not shown]\n")));
  EXPECT_TRUE(is_data(write("a.txt", "train.py is the script\n")));
  EXPECT_TRUE(is_data(write("a.txt", "model = 3\n")));
  EXPECT_TRUE(is_data(folder_.path()));
  EXPECT_FALSE(is_data(write("a.toml", "")));
  EXPECT_FALSE(is_data(write("config", "# words\n[model]\nkind = \"lm\"\n")));
  EXPECT_FALSE(is_data(write("config", "model.kind = \"lm\"\n")));
  EXPECT_FALSE(is_data("nothing-is-here"));
}

TEST_F(Starter, TakesNoNumberAndNoDateForWords) {
  const auto problem = [&](const std::string& header, const auto& row) {
    return message_of<DataError>(
        [&] { config_template_for(write("a.csv", table(header, 90, row))); });
  };
  for (const char* before : {"", "(1'0"}) {
    const auto row = [&](std::size_t i) {
      return day(i) + "," + before + std::to_string(i + 10) + (*before ? ")" : "%");
    };
    EXPECT_EQ(config_for(write("a.csv", table("day,load", 90, row))).text("model.kind"),
              "ensemble");
  }
  EXPECT_THAT(problem("day;load",
                      [](std::size_t i) {
                        return day(i) + (i < 80 ? ";9" : ";4,0") + std::to_string(i + 10);
                      }),
              HasSubstr("\"4,099\" may have decimals or a thousands separator: set the decimal "
                        "mark, as in --set data.decimal=,"));
  const auto either = [](std::size_t i) {
    return "0" + std::to_string(1 + i % 9) + "/02/2024," + std::to_string(i);
  };
  EXPECT_THAT(problem("day,load", either),
              HasSubstr("may be a time as %d/%m/%Y or %m/%d/%Y; set one, as in --set "
                        "data.time_format='%d/%m/%Y'"));
  EXPECT_THAT(problem("date,load",
                      [](std::size_t i) {
                        return "2018-W" + std::to_string(i + 1) + "," + std::to_string(i);
                      }),
              HasSubstr("a.csv: column \"date\": \"2018-W90\" is not in a known date format; set "
                        "the format, as in --set data.time_format='%d.%m.%y', or write it as "
                        "2016-07-01"));
  EXPECT_THAT(problem("time,load",
                      [](std::size_t i) {
                        return "00:" + std::to_string(10 + i % 50) + "," + std::to_string(i);
                      }),
              HasSubstr("is a time without a date; write both in one column"));
}

TEST_F(Starter, ReadsTablesAsItIsTold) {
  const auto row = [](std::size_t i) {
    return std::to_string(1 + i % 9) + "/" + std::to_string(1 + i / 9) + "/2024," +
           std::to_string(i);
  };
  const auto file = write("a.csv", table("day,load", 90, row));
  EXPECT_THAT(config_template_for(file, {.time_format = "%d/%m/%Y"}), HasSubstr("forecaster"));
}

}  // namespace config_template_test
}  // namespace bochner
