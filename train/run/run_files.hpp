#pragma once
/// Names and version of the files of a run.

#include <cstdint>

namespace bochner {

inline constexpr const char* config_name = "config.toml";
inline constexpr const char* meta_name = "meta.json";  ///< where it came from
inline constexpr const char* metrics_name = "metrics.jsonl";
inline constexpr const char* profile_name = "profile.json";
inline constexpr const char* lock_name = "run.lock";
inline constexpr const char* verdict_name = "verdict.json";         ///< see Verdict::json()
inline constexpr const char* calibration_name = "calibration.bin";  ///< see Calibration
/// Tokenizer model; an exported model has it next to its weights.
inline constexpr const char* tokenizer_name = "tokenizer.model";

// Logs for those who watch the run.
inline constexpr const char* console_name = "console.log";
inline constexpr const char* clock_name = "clock.jsonl";
inline constexpr const char* watch_page_name = "watch.html";
inline constexpr const char* events_prefix = "events.out.tfevents.";

/// Version of a run's directory (`format` in meta.json), checkpoints and trainer states. Every
/// change of their bytes or meaning increments it.
inline constexpr std::uint32_t format_version = 1;
/// Remedy for files without this version, which only builds before the first release wrote.
inline constexpr const char* pre_release_error =
    "written by a pre-release build; train anew, or export its weights with the build that wrote "
    "it";

}  // namespace bochner
