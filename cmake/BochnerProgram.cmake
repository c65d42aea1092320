# bochner_program(NAME SOURCE...): builds the command with your own kernels as NAME (float) and NAME64 (double, for
# gradcheck).
function(bochner_program name)
  foreach(suffix "" 64)
    if(TARGET bochner::cli${suffix})
      add_executable(${name}${suffix} ${ARGN})
      target_link_libraries(${name}${suffix} PRIVATE bochner::cli${suffix})
    endif()
  endforeach()
endfunction()
