# Copies the shared libraries that `program` needs into `destination`, for machines that have none of them. libc,
# libstdc++ and libgcc_s are every system's own.
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${program} RESOLVED_DEPENDENCIES_VAR libraries
     PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|pthread|rt|gcc_s|stdc\\+\\+)\\.so")
file(MAKE_DIRECTORY ${destination})
foreach(library IN LISTS libraries)
  get_filename_component(name ${library} NAME)
  if(NOT EXISTS ${destination}/${name})
    message(STATUS "Installing: ${destination}/${name}")
    file(COPY_FILE ${library} ${destination}/${name}) # what a link leads to
    execute_process(COMMAND ${patchelf} --set-rpath $ORIGIN ${destination}/${name} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
