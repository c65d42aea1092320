#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <bochner/bochner.hpp>
using namespace bochner;

/// The language model of a run, as it reads a text.
class Reader {
 public:
  explicit Reader(const std::string& run)
      : model_(trained_model<LanguageModel>(run)), state_(model_->start()) {}

  /// Reads on and returns the probability of each next byte. -> (256)
  std::vector<real> read(const std::string& bytes) {
    if (bytes.empty()) throw std::invalid_argument("read: no bytes");
    Tensor logits;
    for (const char byte : bytes) logits = model_->step(static_cast<unsigned char>(byte), state_);
    const Tensor p = softmax(Var(logits)).value();
    return {p.begin(), p.end()};
  }

 private:
  std::shared_ptr<LanguageModel> model_;
  LanguageModel::State state_;
};

PYBIND11_MODULE(bochner_reader, module) {
  pybind11::class_<Reader>(module, "Reader")
      .def(pybind11::init<std::string>(), pybind11::arg("run"))
      .def("read", &Reader::read, pybind11::arg("bytes"));
}
