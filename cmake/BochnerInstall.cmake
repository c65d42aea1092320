# Installation and export of bochner::bochner, bochner::bochner64 and bochner::cli for find_package(bochner).
include(CMakePackageConfigHelpers)

set(bochner_targets bochner_common)
foreach(name bochner bochner64)
  if(TARGET ${name})
    list(APPEND bochner_targets ${name} ${name}_cli)
    install(TARGETS ${name}_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  endif()
endforeach()
install(TARGETS ${bochner_targets} EXPORT bochnerTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
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

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/bochnerConfig.cmake.in
  ${PROJECT_BINARY_DIR}/bochnerConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bochner)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bochnerConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bochnerConfig.cmake ${PROJECT_BINARY_DIR}/bochnerConfigVersion.cmake
        ${PROJECT_SOURCE_DIR}/cmake/BochnerProgram.cmake ${PROJECT_SOURCE_DIR}/cmake/ProgramSources.cmake
        ${PROJECT_SOURCE_DIR}/cmake/bochner_gdb.py
        ${PROJECT_SOURCE_DIR}/cmake/Findxxhash.cmake
        ${PROJECT_SOURCE_DIR}/cmake/FindSentencePiece.cmake ${PROJECT_SOURCE_DIR}/cmake/FindSndFile.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bochner)
