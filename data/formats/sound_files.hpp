#pragma once
/// Recordings of sound: WAV, FLAC, Ogg, AIFF, AU and CAF, by libsndfile.

#include <bochner/data/files/gzip.hpp>
#include <bochner/data/formats/series_files.hpp>

namespace bochner {

/// Returns whether the first bytes are those of a recording.
bool is_sound(ByteSpan front);

/// Largest number of samples of a recording, over all channels.
constexpr std::uint64_t most_samples = std::uint64_t(1) << 28;

/// Reads a recording as one series without a label: integer samples of any width as -1 to 1, floats
/// as they are. A recording that ends before its header says is read to its end. Memory is
/// allocated for samples that were decoded, not for those that the header claims. Throws DataError
/// for a file that libsndfile does not read, more than 256 channels, more than `most_samples` or
/// 4096 samples a byte, no samples, and infinite ones.
RealSeriesSet parse_sound(ByteSpan file, const std::string& name);

}  // namespace bochner
