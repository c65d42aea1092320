# bochner_program(NAME SOURCE...): the command with your own kernels in it, as NAME in float and as NAME64 in
# double, which gradcheck needs.
function(bochner_program name)
  foreach(suffix "" 64)
    if(TARGET bochner::cli${suffix})
      add_executable(${name}${suffix} ${ARGN})
      target_link_libraries(${name}${suffix} PRIVATE bochner::cli${suffix})
    endif()
  endforeach()
endfunction()
