#pragma once
/// Names of what is in the directory of a run.

namespace bochner {

inline constexpr const char* config_name = "config.toml";
inline constexpr const char* meta_name = "meta.json";  ///< where it came from
inline constexpr const char* metrics_name = "metrics.jsonl";
inline constexpr const char* profile_name = "profile.json";
inline constexpr const char* lock_name = "run.lock";
/// The model of its words; an exported model has it beside its weights.
inline constexpr const char* tokenizer_name = "tokenizer.model";

// For those who follow the run.
inline constexpr const char* console_name = "console.log";
inline constexpr const char* clock_name = "clock.jsonl";
inline constexpr const char* watch_page_name = "watch.html";
inline constexpr const char* events_prefix = "events.out.tfevents.";

}  // namespace bochner
