#pragma once
/// BOCHNER_INDEPENDENT_LOOP before a loop lets the compiler vectorize it: no iteration reads what
/// an earlier one wrote, though the pointers may be equal.

#ifdef __clang__
#define BOCHNER_INDEPENDENT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define BOCHNER_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif
