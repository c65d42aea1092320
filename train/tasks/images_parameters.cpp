#include <bochner/data/pixels.hpp>
#include <bochner/train/tasks/parameter_rows.hpp>

namespace bochner {

Rows images_rows() {
  return {
      {.name = "data.validation_files",
       .initial = std::vector<std::string>{},
       .doc = "images: files to validate on; without them the last data.validation of data.files",
       .resume = true,
       .path = true},
      {.name = "data.grey",
       .initial = false,
       .doc = "images: one token of brightness a pixel instead of three of colour"},
      {.name = "data.side",
       .initial = whole(16),
       .doc = "shapes: pixels of a side",
       .range = between(double(Shapes::smallest_side), 1024)},
  };
}

}  // namespace bochner
