#pragma once
/// Films of files: fields in NPY files, one frame after the other.

#include <bochner/data/fields/fields.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <bochner/data/formats/stored_array.hpp>
#include <bochner/data/series/moments.hpp>

namespace bochner {

struct FieldFilesSpec {
  std::size_t frames = 8;      ///< input frames (T)
  std::size_t dimensions = 2;  ///< of space: 1 to 3
  double validation =
      0.1;  ///< fraction held out, see held_out_from(): films, or frames of a single one
  std::uint64_t seed = 1;  ///< of the training order
  std::size_t patch = 1;   ///< side of a token's patch, in pixels
};

/// Films in files of shape (T', H, W), one film, or (N, T', H, W), N films, of float32 or float64,
/// with one or three axes of space instead of H, W for other dimensions. Every run of T + 1 frames
/// is an example. Films are held out like held_out_from(), and no frame is on both sides. Files
/// stay mapped; numbers keep the unit of the data. Throws DataError for other shapes and types,
/// sizes that differ, too few frames, and numbers that are not finite.
class FieldFiles : public FieldSource {
 public:
  FieldFiles(const std::vector<std::filesystem::path>& files, const FieldFilesSpec& spec);
  FieldSize size() const override { return size_; }
  FieldBatch batch(const Examples& examples) const override;
  std::uint64_t fingerprint() const override;
  /// Returns the moments of all pixels of the training frames, with divisor n.
  Moments moments() const;

 protected:
  std::string describe_films() const override;

 private:
  struct File {
    Input input;
    StoredArray array;
    File(const std::filesystem::path& path, std::size_t dimensions);
  };
  struct Stretch {
    std::size_t file, first, frames;  ///< first: index among all frames of the file
    std::uint64_t examples_before;
  };
  using Part = std::vector<Stretch>;

  void require_same_size(const File& file, std::size_t dimensions);
  void require_finite(const File& file) const;
  void split(const Part& films, double validation);
  std::uint64_t count(const Part& part) const {
    return part.empty() ? 0 : part.back().examples_before + part.back().frames - size_.frames;
  }
  void copy_example(const Part& part, std::uint64_t index, FieldBatch& batch, std::size_t b) const;
  template <class Action>
  void for_each_training_number(const Action& action) const;

  FieldSize size_;
  std::vector<File> files_;
  Part train_, validation_;
  std::size_t films_ = 0;
};

}  // namespace bochner
