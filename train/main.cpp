#include <bochner/train/commands/cli.hpp>

int main(int argc, char** argv) { return bochner::cli(argc, argv); }
