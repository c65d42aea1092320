# bochner_libraries(NAME): adds the library NAME, the command as library NAME_cli, and the program NAME: float for
# NAME = bochner, double for NAME = bochner64, whose command only checks gradients. base/ and data/ are compiled once, as
# bochner_common; autodiff/, layers/, optim/ and the folders of data/ that make tensors once per precision; train/ in
# float.

bochner_processor_options(bochner_processor ${BOCHNER_ARCH})
if(BOCHNER_TUNE)
  list(APPEND bochner_processor -mtune=${BOCHNER_TUNE})
endif()
# These include large libraries and are not performance-critical. Precompiled headers have other options.
foreach(source base/numeric/openblas.cpp base/numeric/special_functions.cpp train/commands/command_line.cpp
               train/config/config_toml.cpp train/storage/json.cpp)
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/${source} PROPERTIES COMPILE_OPTIONS -O1
                              SKIP_PRECOMPILE_HEADERS ON)
endforeach()
# These include the C interface of BLAS, which conflicts with xtensor-blas's declarations.
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/base/numeric/cholesky.cpp
                            ${CMAKE_CURRENT_SOURCE_DIR}/autodiff/compute/gemm.cpp
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# Linked only into programs that call cli(), since it defines variables of OpenBLAS.
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/train/commands/program_scope.cpp
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# Uses only types from MPI's header; the library is loaded under mpirun.
set(mpi_source ${CMAKE_CURRENT_SOURCE_DIR}/train/distributed/mpi.cpp)
set_source_files_properties(${mpi_source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(BOCHNER_MPI)
  if(NOT BOCHNER_MPI_HEADERS)
    message(FATAL_ERROR "BOCHNER_MPI needs mpi.h of Open MPI (Debian: libopenmpi-dev); say where it is: "
                        "-D BOCHNER_MPI_HEADERS=FOLDER")
  endif()
  set_source_files_properties(${mpi_source} PROPERTIES COMPILE_DEFINITIONS BOCHNER_MPI
                              INCLUDE_DIRECTORIES ${BOCHNER_MPI_HEADERS})
endif()

# Requires an optional library.
set(pieces_source ${CMAKE_CURRENT_SOURCE_DIR}/data/text/sentence_pieces.cpp)
set_source_files_properties(${pieces_source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(BOCHNER_SENTENCEPIECE)
  set_source_files_properties(${pieces_source} PROPERTIES COMPILE_DEFINITIONS BOCHNER_SENTENCEPIECE)
endif()

# The commit for meta.json; a new commit reconfigures.
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse HEAD WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status ERROR_QUIET)
  if(status EQUAL 0)
    set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/train/run/run_metadata.cpp
                                PROPERTIES COMPILE_DEFINITIONS BOCHNER_COMMIT="${commit}")
  endif()
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/.git/logs/HEAD)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/.git/logs/HEAD)
  endif()
endif()

function(bochner_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # No -ffast-math: it removes the finite checks. No contraction: it would follow the compiler's heuristics; fused
  # multiply-adds are explicit.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-psabi -ffp-contract=off -fno-math-errno
                         -fno-trapping-math ${bochner_processor} $<$<CONFIG:Release>:-O3>
                         $<$<BOOL:${BOCHNER_WERROR}>:-Werror>
                         # GCC's garbage collector takes a tenth of the time and saves a fifth of the memory.
                         $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>
                         # libstdc++ 12 uses what it deprecates; a loop that is not vectorised is no fault.
                         "$<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations;-Wno-pass-failed>")
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 19
     AND xtensor_VERSION VERSION_LESS 0.25)
    target_compile_options(${target} PUBLIC $<$<CXX_COMPILER_ID:Clang>:-fno-relaxed-template-template-args>
                           $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-no-relaxed-template-template-args>)
  endif()
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)  # otherwise, or when tuning for Intel, GCC leaves half of AVX-512 unused
    target_compile_options(${target} PRIVATE -mprefer-vector-width=512)
  endif()
  if(BOCHNER_XTENSOR_ASSERT)
    target_compile_definitions(${target} PUBLIC XTENSOR_ENABLE_ASSERT)
  endif()
  if(BOCHNER_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${BOCHNER_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${BOCHNER_SANITIZE})
  endif()
endfunction()

# bochner_precompile(TARGET FIRST HEADER...): precompiles headers once for all targets that name the same FIRST, if it
# exists. The targets need the same optimisation options, which are part of a precompiled header.
function(bochner_precompile target first)
  if(TARGET ${first} AND NOT target STREQUAL first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp ${ARGN})
  endif()
endfunction()

# Largest number of sources of one folder in a unity unit: most compile time goes into shared headers and templates.
# Names in anonymous namespaces must therefore differ within a folder.
set(BOCHNER_SOURCES_A_UNIT 15)

# bochner_group(TARGET SOURCE...): assigns the sources to unity groups by folder.
function(bochner_group target)
  set(groups)
  foreach(source ${ARGN})
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(REPLACE / _ group ${folder})
    list(APPEND groups ${group})
    list(APPEND sources_of_${group} ${source})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group ${groups})
    list(LENGTH sources_of_${group} count)
    set(index 0)
    foreach(source ${sources_of_${group}})
      math(EXPR number "${index} * ((${count} - 1) / ${BOCHNER_SOURCES_A_UNIT} + 1) / ${count}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}_${number})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

function(bochner_library target export_name)
  add_library(${target} ${ARGN})
  bochner_group(${target} ${ARGN})
  add_library(bochner::${export_name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${export_name} POSITION_INDEPENDENT_CODE ON
                        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} INSTALL_RPATH $ORIGIN)
  if(BUILD_SHARED_LIBS)
    set(exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    target_link_options(${target} PRIVATE -Wl,--version-script=${exports},-z,defs)
    set_target_properties(${target} PROPERTIES DEFINE_SYMBOL "" LINK_DEPENDS ${exports})
  endif()
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  bochner_compile_options(${target})
endfunction()

# bochner_sources(OUTPUT FOLDER...): lists the sources below the folders.
function(bochner_sources output)
  set(sources)
  foreach(folder ${ARGN})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  set(${output} ${sources} PARENT_SCOPE)
endfunction()

# bochner_embed(NAME COMPONENT FILE...): generates NAME.cpp from cmake/NAME.cpp.in, whose @files@ becomes rows of name
# (the COMPONENT of the path: NAME or NAME_WE) and text, and appends it to cli_sources.
function(bochner_embed name component)
  set(files)
  foreach(file ${ARGN})
    get_filename_component(key ${file} ${component})
    file(READ ${file} text)
    string(APPEND files "    {\"${key}\", R\"text(${text})text\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.cpp.in ${PROJECT_BINARY_DIR}/${name}.cpp @ONLY)
  set(cli_sources ${cli_sources} ${PROJECT_BINARY_DIR}/${name}.cpp PARENT_SCOPE)
endfunction()

set(double_cli_sources commands/double_cli.cpp commands/command_line.cpp commands/program_scope.cpp
                       commands/gradcheck.cpp config/nearest.cpp run/instruments/kernel_sample.cpp
                       studies/density_checks.cpp studies/layer_checks.cpp studies/model_checks.cpp
                       studies/optimizer_checks.cpp studies/small_model.cpp tasks/custom/custom_task.cpp run/signals.cpp run/version.cpp
                       storage/json.cpp)

set(tensor_data_folders data/fields data/series)

function(bochner_common_library)
  bochner_sources(sources base data)
  bochner_sources(tensor_sources ${tensor_data_folders})
  list(REMOVE_ITEM sources ${tensor_sources})
  bochner_library(bochner_common common ${sources})
  bochner_precompile(bochner_common bochner_common)
  # NLopt's definitions are for Windows, and would keep the precompiled headers from being used.
  target_link_libraries(bochner_common PUBLIC xtensor TBB::tbb fmt::fmt
                        PRIVATE LAPACK::LAPACK xxhash::xxhash ZLIB::ZLIB $<LINK_ONLY:NLopt::nlopt>
                        SndFile::sndfile
                        $<BUILD_INTERFACE:xtensor-blas> $<BUILD_INTERFACE:Boost::headers>)
  if(BOCHNER_SENTENCEPIECE)
    target_link_libraries(bochner_common PRIVATE SentencePiece::SentencePiece)
  endif()
endfunction()

# bochner_tensor_library(NAME EXPORT_NAME): autodiff/, layers/, optim/ and the folders of data/ that make tensors.
function(bochner_tensor_library name export_name)
  bochner_sources(sources autodiff layers optim ${tensor_data_folders})
  # What build_flags() returns.
  list(JOIN bochner_processor " " flags)
  file(CONFIGURE OUTPUT ${name}_flags.cpp @ONLY CONTENT "#include <bochner/autodiff/build_flags.hpp>
const char* bochner::build_flags() { return \"@CMAKE_BUILD_TYPE@ @flags@\"; }
")
  bochner_library(${name} ${export_name} ${sources})
  target_sources(${name} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${name}_flags.cpp)
  # Nothing is compiled with -fopenmp: OpenMP is linked only to set its number of threads.
  target_link_libraries(${name} PUBLIC bochner_common
                        PRIVATE DNNL::dnnl $<LINK_ONLY:OpenMP::OpenMP_CXX> LAPACK::LAPACK
                        $<BUILD_INTERFACE:xtensor-blas> $<BUILD_INTERFACE:Boost::headers>)
endfunction()

# bochner_command(TARGET): the program of the command, without its library.
function(bochner_command target)
  add_executable(${target} ${PROJECT_SOURCE_DIR}/train/main.cpp)
  bochner_compile_options(${target})
endfunction()

function(bochner_libraries name)
  string(REPLACE bochner cli cli_name ${name})
  if(name STREQUAL bochner64)
    # Double needs only the gradient check.
    list(TRANSFORM double_cli_sources PREPEND ${PROJECT_SOURCE_DIR}/train/ OUTPUT_VARIABLE cli_sources)
  else()
    bochner_sources(cli_sources train)
    list(REMOVE_ITEM cli_sources ${PROJECT_SOURCE_DIR}/train/commands/double_cli.cpp ${PROJECT_SOURCE_DIR}/train/main.cpp)
    # The Python of exported models, and the project of `bochner init project`.
    file(GLOB_RECURSE torch_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/train/export/torch/*.py)
    list(SORT torch_sources COMPARE FILE_BASENAME)
    bochner_embed(torch_sources NAME_WE ${torch_sources})
    file(GLOB project_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/project/*)
    bochner_embed(project_files NAME ${project_files})
    bochner_embed(licenses NAME ${PROJECT_SOURCE_DIR}/LICENSES.md)
  endif()
  bochner_tensor_library(${name} ${name})
  if(name STREQUAL bochner64)
    target_compile_definitions(${name} PUBLIC BOCHNER_DOUBLE=1)
  endif()
  bochner_precompile(${name} bochner_common)

  bochner_library(${name}_cli ${cli_name} ${cli_sources})
  bochner_precompile(${name}_cli bochner_cli <fmt/format.h>)
  target_link_libraries(${name}_cli PUBLIC ${name} PRIVATE fmt::fmt tomlplusplus::tomlplusplus
                        $<BUILD_INTERFACE:CLI11::CLI11> $<BUILD_INTERFACE:cereal::cereal>
                        $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
  # Not performance-critical except benchmarks, whose sums -Og would keep in memory.
  target_compile_options(${name}_cli PRIVATE $<$<CONFIG:Release>:-O1>)
  target_compile_definitions(${name}_cli PRIVATE BOCHNER_VERSION="${PROJECT_VERSION}")

  bochner_command(${name}_program)
  set_target_properties(${name}_program PROPERTIES OUTPUT_NAME ${name})
  target_link_libraries(${name}_program PRIVATE ${name}_cli)
endfunction()

# bochner notices a bochner64 built from other sources.
function(bochner_digest_libraries)
  bochner_sources(sources base autodiff layers optim ${tensor_data_folders})
  list(TRANSFORM double_cli_sources PREPEND ${PROJECT_SOURCE_DIR}/train/ OUTPUT_VARIABLE cli_sources)
  bochner_digest(bochner ${sources} ${cli_sources})
  bochner_note_digest(bochner_program bochner)
  bochner_note_digest(bochner64_program bochner)
endfunction()
