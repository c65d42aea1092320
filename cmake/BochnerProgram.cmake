# bochner_program(NAME [NATIVE] SOURCE...): builds the command with your own kernels as NAME (float) and NAME64 (double,
# for gradcheck). NATIVE compiles the sources for this machine's processor, as loops of your own ops need; the programs
# then run on such processors only.
cmake_policy(PUSH)
cmake_policy(SET CMP0116 NEW) # paths of dependency files

function(bochner_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program NATIVE "" "")
  bochner_digest(${name} ${program_UNPARSED_ARGUMENTS})
  foreach(suffix "" 64)
    if(TARGET bochner::cli${suffix})
      add_executable(${name}${suffix} ${program_UNPARSED_ARGUMENTS})
      target_link_libraries(${name}${suffix} PRIVATE bochner::cli${suffix})
      # As the library: contracted products would change bits of what both define.
      target_compile_options(${name}${suffix} PRIVATE -ffp-contract=off $<$<BOOL:${program_NATIVE}>:-march=native>)
      bochner_note_digest(${name}${suffix} ${name})
    endif()
  endforeach()
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
