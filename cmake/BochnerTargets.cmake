# bochner_libraries(NAME): the library NAME, the command as a library NAME_cli, and the program NAME, in float for
# NAME = bochner and in double for NAME = bochner64, where the command only checks gradients. base/, data/files/ and
# data/formats/ are compiled once, as bochner_common; autodiff/, layers/ and optim/ once for each precision; the rest of
# data/ and train/ in float.

set(bochner_processor -march=${BOCHNER_ARCH})
if(BOCHNER_TUNE)
  list(APPEND bochner_processor -mtune=${BOCHNER_TUNE})
endif()
# Behind these stand large libraries where no time is spent.
foreach(source base/numeric/openblas.cpp base/numeric/special_functions.cpp train/commands/command_line.cpp
               train/config/config_toml.cpp train/storage/json.cpp)
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/${source} PROPERTIES COMPILE_OPTIONS -O1)
endforeach()
# They include the C interface of BLAS, which xtensor-blas declares in its own way.
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/base/numeric/cholesky.cpp
                            ${CMAKE_CURRENT_SOURCE_DIR}/autodiff/compute/gemm.cpp
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# Only programs that call cli() are to define the variables of OpenBLAS.
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/train/commands/program_scope.cpp
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# Only the types of MPI are taken from its header; the library is loaded under mpirun.
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

# Behind it stands another library, which may be missing.
set(pieces_source ${CMAKE_CURRENT_SOURCE_DIR}/data/text/sentence_pieces.cpp)
set_source_files_properties(${pieces_source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(BOCHNER_SENTENCEPIECE)
  set_source_files_properties(${pieces_source} PROPERTIES COMPILE_DEFINITIONS BOCHNER_SENTENCEPIECE)
endif()

# The commit that is built, for meta.json; another commit configures anew.
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
  # multiply-adds are written out where wanted.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-psabi -ffp-contract=off -fno-math-errno
                         -fno-trapping-math ${bochner_processor} $<$<CONFIG:Release>:-O3>
                         $<$<BOOL:${BOCHNER_WERROR}>:-Werror>
                         # Its collector of garbage takes a tenth of the time and saves a fifth of the memory.
                         $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64) # or where it tunes for Intel, GCC leaves half of AVX-512 unused
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

# bochner_precompile(TARGET FIRST HEADER...): headers that the compiler reads once for all targets that name the same
# first one, if that is there. They must be optimised alike: the compiler takes that, too, from what it has read.
function(bochner_precompile target first)
  if(TARGET ${first} AND NOT target STREQUAL first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp ${ARGN})
  endif()
endfunction()

# Sources of one folder are compiled together, at most this many at a time: most of a compiler's time goes into headers
# and templates that they share. Anonymous names must therefore differ within a folder.
set(BOCHNER_SOURCES_A_UNIT 15)

# bochner_group(TARGET SOURCE...): sets the groups of the target's unity build, equal ones within a folder.
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
  add_library(${target} STATIC ${ARGN})
  bochner_group(${target} ${ARGN})
  add_library(bochner::${export_name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${export_name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  bochner_compile_options(${target})
endfunction()

# bochner_sources(OUTPUT FOLDER...): the sources below the folders.
function(bochner_sources output)
  set(sources)
  foreach(folder ${ARGN})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  set(${output} ${sources} PARENT_SCOPE)
endfunction()

# The Python of exported models as texts of the program, one raw string each.
function(bochner_torch_sources output)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/train/export/torch/*.py)
  list(SORT sources COMPARE FILE_BASENAME)
  set(torch_sources)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    file(READ ${source} text)
    string(APPEND torch_sources "    {\"${name}\", R\"py(${text})py\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/torch_sources.cpp.in ${output} @ONLY)
endfunction()

set(double_cli_sources commands/double_cli.cpp commands/command_line.cpp commands/program_scope.cpp
                       commands/gradcheck.cpp config/nearest.cpp run/instruments/kernel_sample.cpp
                       studies/layer_checks.cpp run/signals.cpp run/version.cpp storage/json.cpp)

function(bochner_common_library)
  bochner_sources(sources base data/files data/formats)
  bochner_library(bochner_common common ${sources})
  bochner_precompile(bochner_common bochner_common)
  # NLopt's definitions are for Windows, and would keep the precompiled headers from being used.
  target_link_libraries(bochner_common PUBLIC xtensor TBB::tbb fmt::fmt
                        PRIVATE LAPACK::LAPACK xxhash::xxhash ZLIB::ZLIB $<LINK_ONLY:NLopt::nlopt>
                        $<BUILD_INTERFACE:xtensor-blas> $<BUILD_INTERFACE:Boost::headers>)
endfunction()

function(bochner_libraries name)
  string(REPLACE bochner cli cli_name ${name})
  if(name STREQUAL bochner64)
    bochner_sources(sources autodiff layers optim)
    # The check of gradients is what double serves for.
    list(TRANSFORM double_cli_sources PREPEND ${PROJECT_SOURCE_DIR}/train/ OUTPUT_VARIABLE cli_sources)
  else()
    bochner_sources(sources autodiff layers optim data)
    list(FILTER sources EXCLUDE REGEX "/data/(files|formats)/") # of bochner_common
    bochner_sources(cli_sources train)
    list(REMOVE_ITEM cli_sources ${PROJECT_SOURCE_DIR}/train/commands/double_cli.cpp ${PROJECT_SOURCE_DIR}/train/main.cpp)
    bochner_torch_sources(${PROJECT_BINARY_DIR}/torch_sources.cpp)
    list(APPEND cli_sources ${PROJECT_BINARY_DIR}/torch_sources.cpp)
  endif()
  bochner_library(${name} ${name} ${sources})
  if(name STREQUAL bochner64)
    target_compile_definitions(${name} PUBLIC BOCHNER_DOUBLE=1)
  endif()
  bochner_precompile(${name} bochner_common)
  # Nothing is compiled with -fopenmp: only the number of its threads is set.
  target_link_libraries(${name} PUBLIC bochner_common
                        PRIVATE DNNL::dnnl $<LINK_ONLY:OpenMP::OpenMP_CXX> LAPACK::LAPACK
                        $<BUILD_INTERFACE:xtensor-blas> $<BUILD_INTERFACE:Boost::headers>)
  if(name STREQUAL bochner AND BOCHNER_SENTENCEPIECE)
    target_link_libraries(bochner PRIVATE SentencePiece::SentencePiece)
  endif()

  bochner_library(${name}_cli ${cli_name} ${cli_sources})
  bochner_precompile(${name}_cli bochner_cli <fmt/format.h>)
  target_link_libraries(${name}_cli PUBLIC ${name} PRIVATE fmt::fmt tomlplusplus::tomlplusplus
                        $<BUILD_INTERFACE:CLI11::CLI11> $<BUILD_INTERFACE:cereal::cereal>
                        $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
  # It talks to people and runs no loops of its own for long, but those of measurements, whose sums -Og keeps in memory.
  target_compile_options(${name}_cli PRIVATE $<$<CONFIG:Release>:-O1>)
  target_compile_definitions(${name}_cli PRIVATE BOCHNER_VERSION="${PROJECT_VERSION}"
                             BOCHNER_BUILD_FLAGS="${CMAKE_BUILD_TYPE} $<JOIN:${bochner_processor}, >")

  add_executable(${name}_program ${PROJECT_SOURCE_DIR}/train/main.cpp)
  set_target_properties(${name}_program PROPERTIES OUTPUT_NAME ${name})
  target_link_libraries(${name}_program PRIVATE ${name}_cli)
  bochner_compile_options(${name}_program)
endfunction()
