# Classes of processors, lowest first: for each its compiler options, and the features that a processor needs, which
# __builtin_cpu_supports() knows; it also asks whether the system saves the registers. Programs of avx512 use the products
# of bfloat16 and AMX where the processor has them.
set(bochner_classes x86-64-v3 avx512)
set(bochner_options_x86-64-v3 -march=x86-64-v3)
set(bochner_needs_x86-64-v3 x86-64-v3)
set(bochner_options_avx512 -march=x86-64-v4)
set(bochner_needs_avx512 x86-64-v4)

# The programs of the classes, from the folder of the command.
set(bochner_class_folder ${CMAKE_INSTALL_LIBEXECDIR}/bochner)

# bochner_processor_options(OUTPUT NAME): options of a class, or of a value of -march.
function(bochner_processor_options output name)
  if(name IN_LIST bochner_classes)
    set(${output} ${bochner_options_${name}} PARENT_SCOPE)
  else()
    set(${output} -march=${name} PARENT_SCOPE)
  endif()
endfunction()

if(BOCHNER_CLASSES)
  set(ordered)
  foreach(class IN LISTS bochner_classes)
    if(class IN_LIST BOCHNER_CLASSES)
      list(APPEND ordered ${class})
    endif()
  endforeach()
  if(NOT BOCHNER_CLASSES STREQUAL "${ordered}")
    message(FATAL_ERROR "BOCHNER_CLASSES=${BOCHNER_CLASSES}: choose from ${bochner_classes}, in this order")
  endif()
  if(BOCHNER_TUNE OR NOT BOCHNER_ARCH STREQUAL native)
    message(FATAL_ERROR "BOCHNER_CLASSES have options of their own: -U BOCHNER_ARCH -U BOCHNER_TUNE")
  endif()
  if(BUILD_SHARED_LIBS)
    message(FATAL_ERROR "BOCHNER_CLASSES make no shared libraries: -D BUILD_SHARED_LIBS=OFF")
  endif()
  if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    message(FATAL_ERROR "BOCHNER_CLASSES are of x86-64; choose BOCHNER_ARCH for ${CMAKE_SYSTEM_PROCESSOR}")
  endif()
  if(NOT BOCHNER_FLOAT)
    message(FATAL_ERROR "BOCHNER_CLASSES are for the float command: -D BOCHNER_FLOAT=ON")
  endif()
  # What is compiled once is for the lowest class.
  list(GET BOCHNER_CLASSES 0 BOCHNER_ARCH)
endif()

# bochner_class_program(CLASS): the program of a class; only what bochner_tensor_library() has is compiled for it.
function(bochner_class_program class)
  set(bochner_processor ${bochner_options_${class}})
  bochner_tensor_library(bochner_${class} ${class})
  bochner_precompile(bochner_${class} bochner_${class})
  bochner_command(bochner_${class}_program)
  # All of it, and first: the lowest class's library, on which the command depends, then gives nothing.
  target_link_libraries(bochner_${class}_program PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,bochner_${class}> bochner_cli)
endfunction()

# bochner_class_programs(): the command once for each of BOCHNER_CLASSES, and the launcher that starts one of them. Sets
# bochner_program_CLASS to the target.
function(bochner_class_programs)
  set(class_rows)
  foreach(class IN LISTS BOCHNER_CLASSES)
    bochner_class_row(${class})
    set(program bochner_program)
    if(NOT class STREQUAL BOCHNER_ARCH)
      set(program bochner_${class}_program)
      bochner_class_program(${class})
    endif()
    set_target_properties(${program} PROPERTIES OUTPUT_NAME bochner RUNTIME_OUTPUT_DIRECTORY
                          ${PROJECT_BINARY_DIR}/${bochner_class_folder}/${class})
    set(bochner_program_${class} ${program} PARENT_SCOPE)
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/packaging/processor_classes.hpp.in processor_classes.hpp @ONLY)
  add_executable(bochner_launcher ${PROJECT_SOURCE_DIR}/packaging/launcher.cpp)
  set_target_properties(bochner_launcher PROPERTIES OUTPUT_NAME bochner RUNTIME_OUTPUT_DIRECTORY
                        ${PROJECT_BINARY_DIR}/bin)
  target_include_directories(bochner_launcher PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
  target_compile_features(bochner_launcher PRIVATE cxx_std_20)
  target_compile_options(bochner_launcher PRIVATE -Wall -Wextra -march=x86-64 -fno-exceptions -fno-rtti
                         -fno-threadsafe-statics)
  target_link_options(bochner_launcher PRIVATE -static-libgcc -Wl,--as-needed)
endfunction()

# bochner_class_row(CLASS): appends the row of the launcher's table to class_rows.
macro(bochner_class_row class)
  set(tests)
  foreach(feature IN LISTS bochner_needs_${class})
    list(APPEND tests "__builtin_cpu_supports(\"${feature}\") != 0")
  endforeach()
  list(JOIN tests " && " tests)
  string(APPEND class_rows "    {\"${class}\", ${tests}},\n")
endmacro()
