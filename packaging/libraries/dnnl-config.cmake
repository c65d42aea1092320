# The part of oneDNN that packaging/libraries/build makes.
get_filename_component(prefix ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
add_library(DNNL::dnnl SHARED IMPORTED)
set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${prefix}/lib/libdnnl.so
                      INTERFACE_INCLUDE_DIRECTORIES ${prefix}/include)
