#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/fields/field_files.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/formats/npy.hpp>
#include <bochner/data/formats/read_array.hpp>

namespace bochner {
namespace {

/// Calls `action` with the elements in place: floats or doubles.
template <class Action>
void with_elements(const StoredArray& array, const Action& action) {
  if (const auto floats = array.elements<float>()) return action(*floats);
  action(*array.elements<double>());
}

/// Returns "(frames, height, width)" in two dimensions.
std::string film_shape(std::size_t dimensions, const char* before = "") {
  const char* const axes[] = {"planes, ", "height, ", "width"};
  std::string text = std::string("(") + before + "frames, ";
  for (std::size_t j = 3 - dimensions; j < 3; ++j) text += axes[j];
  return text + ")";
}

}  // namespace

FieldFiles::File::File(const std::filesystem::path& path, std::size_t dimensions)
    : input(open_input(path)), array(parse_npy(input.bytes(), input.name())) {
  const auto& shape = array.shape();
  if (shape.size() != dimensions + 1 && shape.size() != dimensions + 2)
    throw DataError(input.name(), ": has shape ", shape_text(shape), "; films are ",
                    film_shape(dimensions), ", or ", film_shape(dimensions, "films, "),
                    ", with data.dimensions = ", dimensions);
  if (array.size() == 0)
    throw DataError(input.name(), ": is empty, with shape ", shape_text(shape));
  if (!array.elements<float>() && !array.elements<double>())
    throw DataError(input.name(),
                    ": films are float32 or float64, in C order and little-endian; "
                    "make such a file with bochner data convert");
}

FieldFiles::FieldFiles(const std::vector<std::filesystem::path>& files, const FieldFilesSpec& spec)
    : FieldSource({spec.seed, 0, 0}, spec.patch), size_{spec.frames, {}} {
  require(spec.frames >= 1 && spec.dimensions >= 1 && spec.dimensions <= 3, "field_files",
          "needs a frame, and 1 to 3 dimensions");
  Part films;
  for (const auto& path : files) {
    files_.emplace_back(path, spec.dimensions);
    require_same_size(files_.back(), spec.dimensions);
    require_finite(files_.back());
    const auto& shape = files_.back().array.shape();
    const std::size_t frames = shape[shape.size() - 1 - spec.dimensions];
    const std::size_t count = shape.size() == spec.dimensions + 2 ? shape[0] : 1;
    if (frames <= spec.frames)
      throw DataError(files_.back().input.name(), ": films of ", frames,
                      " frames are too short for data.frames = ", spec.frames,
                      ", which needs one more");
    for (std::size_t film = 0; film < count; ++film)
      films.push_back({files_.size() - 1, film * frames, frames, 0});
  }
  films_ = films.size();
  split(films, spec.validation);
  examples_.train = count(train_);
  examples_.validation = count(validation_);
}

void FieldFiles::require_same_size(const File& file, std::size_t dimensions) {
  const auto& shape = file.array.shape();
  const FieldSize size{size_.frames, {shape.end() - std::ptrdiff_t(dimensions), shape.end()}};
  if (size_.sides.empty()) size_ = size;
  if (size.sides != size_.sides)
    throw DataError(file.input.name(), ": frames of ", size.text(), ", but those before are ",
                    size_.text());
}

void FieldFiles::require_finite(const File& file) const {
  with_elements(file.array, [&](const auto& numbers) {
    const auto bad = std::ranges::find_if(numbers, [](auto x) { return !std::isfinite(real(x)); });
    if (bad == numbers.end()) return;
    std::vector<std::size_t> place = file.array.shape();
    std::size_t index = std::size_t(bad - numbers.begin());
    for (std::size_t axis = place.size(); axis-- > 0;) {
      const std::size_t size = place[axis];
      place[axis] = index % size;
      index /= size;
    }
    throw DataError(file.input.name(), ": element ", shape_text(place),
                    ", counted from 0, is not a finite number; fill in what is missing");
  });
}

void FieldFiles::split(const Part& films, double validation) {
  std::vector<std::size_t> frames;
  for (const Stretch& film : films) frames.push_back(film.frames);
  const std::vector<std::size_t> borders = held_out_from(frames, validation);
  for (std::size_t i = 0; i < films.size(); ++i) {
    const auto [file, first, all, none] = films[i];
    const std::size_t trained = borders[i], rest = all - trained;
    if ((trained > 0 && trained <= size_.frames) || (rest > 0 && rest <= size_.frames))
      throw DataError(files_[file].input.name(), ": one film of ", all, " frames has ", trained,
                      " to train and ", rest,
                      " to validate; each side needs one more than data.frames = ", size_.frames,
                      ", or data.validation = 0");
    if (trained > 0) train_.push_back({file, first, trained, count(train_)});
    if (rest > 0) validation_.push_back({file, first + trained, rest, count(validation_)});
  }
}

void FieldFiles::copy_example(const Part& part, std::uint64_t index, FieldBatch& batch,
                              std::size_t b) const {
  const Stretch& stretch =
      *(std::ranges::upper_bound(part, index, {}, &Stretch::examples_before) - 1);
  const std::size_t first = stretch.first + std::size_t(index - stretch.examples_before);
  const std::size_t T = size_.frames, pixels = size_.pixels();
  with_elements(files_[stretch.file].array, [&](const auto& numbers) {
    const auto copy = [&](std::size_t frame, std::size_t count, real* to) {
      std::ranges::transform(numbers.subspan(frame * pixels, count * pixels), to,
                             [](auto x) { return real(x); });
    };
    copy(first, T, batch.frames.data() + b * T * pixels);
    copy(first + T, 1, batch.next.data() + b * pixels);
  });
}

FieldBatch FieldFiles::batch(const Examples& examples) const {
  const Part& part = examples.split == Split::train ? train_ : validation_;
  FieldBatch batch = empty_batch(examples.size());
  parallel_tasks(examples.size(),
                 [&](std::size_t b) { copy_example(part, examples.index(b), batch, b); });
  return batch;
}

template <class Action>
void FieldFiles::for_each_training_number(const Action& action) const {
  const std::size_t pixels = size_.pixels();
  for (const Stretch& stretch : train_) {
    with_elements(files_[stretch.file].array, [&](const auto& numbers) {
      for (const auto x : numbers.subspan(stretch.first * pixels, stretch.frames * pixels))
        action(double(x));
    });
  }
}

Moments FieldFiles::moments() const {
  const auto each = [&](const auto& action) { for_each_training_number(action); };
  return resolved(moments_of(each), "the pixels of the training frames");
}

std::uint64_t FieldFiles::fingerprint() const {
  std::vector<std::uint64_t> parameters{size_.frames};
  parameters.insert(parameters.end(), size_.sides.begin(), size_.sides.end());
  for (const File& file : files_) {
    parameters.insert(parameters.end(), file.array.shape().begin(), file.array.shape().end());
    parameters.push_back(digest_of_elements(file.input.bytes()));
  }
  return examples_.fingerprint("field_files", parameters);
}

std::string FieldFiles::describe_films() const { return format_number_of(films_, "film"); }

}  // namespace bochner
