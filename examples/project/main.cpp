#include <bochner/bochner.hpp>

void add_density();
void add_mixer();
void add_optimizer();
void add_task();

int main(int argc, char** argv) {
  add_density();
  add_mixer();
  add_optimizer();
  add_task();
  return bochner::cli(argc, argv);
}
