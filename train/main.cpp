#include <bochner/train/commands/cli.hpp>
#include <bochner/train/commands/program_scope.hpp>

// The loader calls it before libraries make their static objects: signals are held by then, and
// memory that fails already ends in one line.
__attribute__((section(".preinit_array"),
               used)) static void (*const begin)() = bochner::begin_program;

int main(int argc, char** argv) { return bochner::cli(argc, argv); }
