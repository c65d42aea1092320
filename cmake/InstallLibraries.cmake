# Copies the shared libraries that `program` needs into `destination`, for machines that have none of them. libc,
# libstdc++ and libgcc_s are every system's own.
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${program} RESOLVED_DEPENDENCIES_VAR libraries
     PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|pthread|rt|gcc_s|stdc\\+\\+)\\.so")
file(MAKE_DIRECTORY ${destination})
foreach(library IN LISTS libraries)
  get_filename_component(name ${library} NAME)
  message(STATUS "Installing: ${destination}/${name}")
  file(COPY_FILE ${library} ${destination}/${name} ONLY_IF_DIFFERENT) # what a link leads to
endforeach()
