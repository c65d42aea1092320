# bochner_program(NAME [NATIVE] SOURCE...): builds the command with your own kernels as NAME (float) and NAME64 (double,
# for gradcheck), which is built when asked for: cmake --build build --target NAME64. NATIVE compiles the sources for
# this machine's processor, as loops of your own ops need; the programs then run on such processors only.
cmake_policy(PUSH)
cmake_policy(SET CMP0116 NEW) # paths of dependency files

function(bochner_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program NATIVE "" "")
  bochner_digest(${name} ${program_UNPARSED_ARGUMENTS})
  foreach(suffix "" 64)
    if(TARGET bochner::cli${suffix})
      add_executable(${name}${suffix} ${program_UNPARSED_ARGUMENTS})
      bochner_compile_as_library(${name}${suffix} "${suffix}" ${program_NATIVE})
      bochner_precompiled(${name}${suffix} "${suffix}" ${program_NATIVE})
      bochner_note_digest(${name}${suffix} ${name})
      bochner_print_in_gdb(${name}${suffix})
      if(suffix AND TARGET ${name})
        set_target_properties(${name}${suffix} PROPERTIES EXCLUDE_FROM_ALL ON)
      endif()
    endif()
  endforeach()
endfunction()

# bochner_compile_as_library(TARGET SUFFIX NATIVE): compiles so that what both define has the same bits: without
# contracted products.
function(bochner_compile_as_library target suffix native)
  target_link_libraries(${target} PRIVATE bochner::cli${suffix})
  target_compile_options(${target} PRIVATE -ffp-contract=off $<$<BOOL:${native}>:-march=native>
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-error=invalid-pch --param=ggc-min-heapsize=1000000>)
endfunction()

# bochner_precompiled(TARGET SUFFIX NATIVE): precompiles bochner.hpp once for all programs of a project that are compiled
# alike; a program with other options reads the header itself.
function(bochner_precompiled target suffix native)
  set(headers bochner_headers${suffix})
  if(native)
    string(APPEND headers _native)
  endif()
  if(NOT TARGET ${headers})
    file(CONFIGURE OUTPUT bochner_headers.cpp CONTENT "// bochner.hpp is precompiled for this source.\n")
    add_library(${headers} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/bochner_headers.cpp)
    bochner_compile_as_library(${headers} "${suffix}" ${native})
    target_precompile_headers(${headers} PRIVATE <bochner/bochner.hpp>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# bochner_print_in_gdb(TARGET): writes TARGET-gdb.py next to the program, which gdb loads from folders that it trusts:
# gdb -iex "add-auto-load-safe-path build" build/NAME
function(bochner_print_in_gdb target)
  # Without it clang describes no class whose constructor is compiled elsewhere.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-fstandalone-debug>)
  file(GENERATE OUTPUT $<TARGET_FILE:${target}>-gdb.py
       CONTENT "exec(open(r'${CMAKE_CURRENT_FUNCTION_LIST_DIR}/bochner_gdb.py').read())\n")
endfunction()

# bochner_digest(NAME SOURCE...): generates a source with a digest of the sources of NAME and of what they include, so
# that NAME notices a NAME64 built from others.
function(bochner_digest name)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/ProgramSources.cmake)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}_sources.cpp)
  set(sources)
  foreach(source IN LISTS ARGN)
    get_filename_component(source "${source}" ABSOLUTE)
    list(APPEND sources "${source}")
  endforeach()
  add_custom_command(
    OUTPUT ${file} DEPENDS ${sources} ${script} DEPFILE ${file}.d VERBATIM
    COMMAND ${CMAKE_COMMAND} -D "output=${file}" -D "sources=${sources}" -D "version=${bochner_VERSION}"
            -D "folders=$<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>" -P ${script}
    COMMENT "Digesting the sources of ${name}")
  set_source_files_properties(${file} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  add_custom_target(${name}_sources DEPENDS ${file})
endfunction()

# bochner_note_digest(TARGET NAME): compiles the digest of NAME's sources into a target.
function(bochner_note_digest target name)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${name}_sources.cpp)
  add_dependencies(${target} ${name}_sources)
endfunction()

cmake_policy(POP)
