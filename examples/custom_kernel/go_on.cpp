#include <algorithm>
#include <bochner/bochner.hpp>
#include <cstdio>
using namespace bochner;

/// go_on RUN TEXT: prints the text and 60 more bytes, each the most probable one of a run's model.
int main(int argc, char** argv) try {
  if (argc != 3) return std::fputs("go_on RUN TEXT\n", stderr), 2;
  const auto model = trained_model<LanguageModel>(argv[1]);
  LanguageModel::State state = model->start();
  Tensor logits = zeros({256});
  const auto feed = [&](unsigned char byte) {
    std::putchar(byte);
    logits = model->step(byte, state);
  };
  for (const char* byte = argv[2]; *byte; ++byte) feed(static_cast<unsigned char>(*byte));
  for (int i = 0; i < 60; ++i)
    feed(static_cast<unsigned char>(std::max_element(logits.begin(), logits.end()) -
                                    logits.begin()));
  std::putchar('\n');
} catch (const std::exception& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
