#pragma once
/// What a program must do before the first library of it starts. Whoever calls begin_program()
/// links it in, and the loader does it before any other code.

namespace bochner {

/// Signals wait until they are received, see signals.hpp; OpenBLAS starts no threads; and where
/// memory fails so that no error can be thrown or told, the program ends with 1 and out_of_memory.
void begin_program();

/// "out of memory; lower ...": what helps where a model is trained, until another advice is given.
extern const char* out_of_memory;

}  // namespace bochner
