# Installation and export of bochner::bochner, bochner::bochner64 and bochner::cli for find_package(bochner).
include(CMakePackageConfigHelpers)

# The libraries that BOCHNER_BUNDLE installs, which find each other by patchelf.
set(bochner_bundle ${CMAKE_INSTALL_LIBEXECDIR}/bochner)
if(BOCHNER_BUNDLE)
  find_program(patchelf patchelf REQUIRED)
endif()

# bochner_install_program(TARGET FOLDER)
function(bochner_install_program target folder)
  install(TARGETS ${target} RUNTIME DESTINATION ${folder} COMPONENT command)
  set(libraries ${CMAKE_INSTALL_LIBDIR})
  if(BOCHNER_BUNDLE)
    set(libraries ${bochner_bundle})
  endif()
  file(RELATIVE_PATH libraries /${folder} /${libraries})
  if(BOCHNER_BUNDLE OR BUILD_SHARED_LIBS)
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
  endif()
  if(BOCHNER_BUNDLE)
    install(CODE "set(program [[$<TARGET_FILE:${target}>]])
                  set(patchelf [[${patchelf}]])
                  set(destination \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${bochner_bundle}\")" COMPONENT command)
    install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/InstallLibraries.cmake COMPONENT command)
  endif()
endfunction()

set(bochner_targets bochner_common)
foreach(name bochner bochner64)
  if(TARGET ${name})
    list(APPEND bochner_targets ${name} ${name}_cli)
    if(NOT BOCHNER_CLASSES)
      bochner_install_program(${name}_program ${CMAKE_INSTALL_BINDIR})
    endif()
  endif()
endforeach()
if(BOCHNER_CLASSES)
  install(TARGETS bochner_launcher RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  foreach(class IN LISTS BOCHNER_CLASSES)
    bochner_install_program(${bochner_program_${class}} ${bochner_class_folder}/${class})
  endforeach()
  if(TARGET bochner64_program)
    bochner_install_program(bochner64_program ${bochner_class_folder}/${BOCHNER_ARCH})
  endif()
endif()
install(TARGETS ${bochner_targets} EXPORT bochnerTargets DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT bochnerTargets NAMESPACE bochner:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bochner)
install(CODE "set(source [[${PROJECT_SOURCE_DIR}]])
              set(destination \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/bochner\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/InstallHeaders.cmake)
set(bochner_examples ${CMAKE_INSTALL_DATADIR}/bochner/examples)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/ DESTINATION ${bochner_examples} COMPONENT command
        PATTERN custom_kernel EXCLUDE PATTERN project EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/custom_kernel ${PROJECT_SOURCE_DIR}/examples/project
        DESTINATION ${bochner_examples})
set(bochner_documents ${CMAKE_INSTALL_DATADIR}/doc/bochner)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${bochner_documents} COMPONENT command)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${bochner_documents} COMPONENT command RENAME copyright)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${bochner_documents}
        COMPONENT command)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${bochner_documents} COMPONENT command)
include(BochnerManual)

if(BUILD_SHARED_LIBS AND TARGET bochner)
  file(RELATIVE_PATH bochner_prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/bochner.pc.in ${PROJECT_BINARY_DIR}/bochner.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/bochner.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/bochnerConfig.cmake.in
  ${PROJECT_BINARY_DIR}/bochnerConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bochner)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bochnerConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bochnerConfig.cmake ${PROJECT_BINARY_DIR}/bochnerConfigVersion.cmake
        ${PROJECT_SOURCE_DIR}/cmake/BochnerProgram.cmake ${PROJECT_SOURCE_DIR}/cmake/ProgramSources.cmake
        ${PROJECT_SOURCE_DIR}/cmake/bochner_gdb.py
        ${PROJECT_SOURCE_DIR}/cmake/Findxxhash.cmake
        ${PROJECT_SOURCE_DIR}/cmake/FindSentencePiece.cmake ${PROJECT_SOURCE_DIR}/cmake/FindSndFile.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bochner)
