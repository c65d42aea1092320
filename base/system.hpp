#pragma once
/// What Linux offers and other systems do otherwise.

#include <cstddef>
#include <cstdint>
#include <string>

namespace bochner {

/// Path that starts this program itself, even if another file has taken its name.
inline constexpr const char* this_program = "/proc/self/exe";

/// Returns the model name of the processor, "unknown" if the system does not say.
std::string processor_name();

std::string glibc_version();

/// Returns the memory of this process that is in RAM; 0 if the system does not say.
std::uint64_t resident_bytes();

/// Returns the number of processors that this process may use; 0 if the system does not say.
std::size_t allowed_processors();

/// Asks for huge pages where a block begins at a multiple of their size.
void prefer_huge_pages(void* block, std::size_t size);

/// Makes the system send a signal to this process when its parent ends. May be called after fork().
void end_with_parent(int signal);

/// Closes all files but the three standard ones on exec(). May be called after fork().
void close_files_on_exec();

}  // namespace bochner
