#include <bochner/train/commands/cli.hpp>
#include <bochner/train/commands/first_instruction.hpp>

// The loader calls it before it starts any library: a signal from then on waits for the command.
__attribute__((section(".preinit_array"),
               used)) void (*const first_instruction)() = bochner::hold_program;

int main(int argc, char** argv) { return bochner::cli(argc, argv); }
