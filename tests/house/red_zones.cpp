// Compiled with the address sanitizer against the library without it: red_zones
// [beyond|freed|scratch]. Without a word it is innocent.
#include <bochner/base/numeric/parallel.hpp>
#include <cstdio>
#include <string>
using namespace bochner;

int main(int argc, char** argv) {
  const std::string mistake = argc > 1 ? argv[1] : "";
  set_thread_count(1);
  {
    const Scratch<float> part(4);
    part.local()[mistake == "scratch" ? 4 : 3] = 1;
  }
  const Scratch<float> scratch(12);
  for (int i = 0; i < 12; ++i) scratch.local()[i] = 1;
  PooledNumbers<float> x(5);
  x.data()[mistake == "beyond" ? 7 : 4] = 1;
  const float* left = x.data();
  x = PooledNumbers<float>();
  if (mistake == "freed") std::printf("%g\n", double(left[0]));
  std::puts("no mistake");
}
