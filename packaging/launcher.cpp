/// The command of a package: executes the program that is compiled for the highest class of
/// processors to which this one belongs, or for the class that BOCHNER_ISA names. Compiled for
/// every x86-64; needs only libc.

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "processor_classes.hpp"

namespace {

char program[PATH_MAX];

/// Writes the path of the program of a class to `program`. Returns whether it is installed.
bool find_program(const char* class_name) {
  char folder[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
  if (length < 0) return false;
  folder[length] = '\0';
  for (int level = 0; level < 2; ++level) {
    if (char* slash = strrchr(folder, '/')) *slash = '\0';
  }
  const int written =
      snprintf(program, sizeof program, "%s/%s/%s/bochner", folder, class_folder, class_name);
  return written < int(sizeof program) && access(program, X_OK) == 0;
}

/// Ends with code 2 and the classes that can be chosen.
[[noreturn]] void refuse(const char* wish, const char* reason) {
  fprintf(stderr, "BOCHNER_ISA=%s: %s; choose from:", wish, reason);
  for (const ProcessorClass* each = processor_classes(); each->name; ++each)
    if (each->fits && find_program(each->name)) fprintf(stderr, " %s", each->name);
  fputs("; or unset it\n", stderr);
  exit(2);
}

/// Finds the program of a class by name.
void find_wished(const char* wish) {
  for (const ProcessorClass* each = processor_classes(); each->name; ++each) {
    if (strcmp(each->name, wish) != 0) continue;
    if (!each->fits) refuse(wish, "this processor lacks its instructions");
    if (!find_program(wish)) refuse(wish, "its program is not installed");
    return;
  }
  refuse(wish, "not a class of processors");
}

/// Finds the program of the highest class that fits. Returns whether there is one.
bool find_highest() {
  const ProcessorClass* classes = processor_classes();
  const ProcessorClass* end = classes;
  while (end->name) ++end;
  while (end-- != classes)
    if (end->fits && find_program(end->name)) return true;
  if (classes->fits)
    fprintf(stderr, "bochner: %s: not found; install bochner again\n", program);
  else
    fputs(
        "bochner: this processor is older than the programs of this package, which need AVX2 and "
        "FMA (x86-64-v3, since about 2013); build bochner here, from source\n",
        stderr);
  return false;
}

}  // namespace

int main(int, char** argv) {
  const char* wish = getenv("BOCHNER_ISA");
  if (wish && *wish)
    find_wished(wish);
  else if (!find_highest())
    return 1;
  execv(program, argv);
  perror(program);
  return 1;
}
