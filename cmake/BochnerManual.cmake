# Installs manual pages, completion of shells and licences. Pages and completion are what the program prints, so they are
# written when it is installed, unless it cannot run here.
find_package(Python3 COMPONENTS Interpreter QUIET)

# bochner_install_manual(PROGRAM): PROGRAM is the file of the command, which may be a generator expression.
function(bochner_install_manual program)
  set(folder ${PROJECT_BINARY_DIR}/manual)
  install(CODE "
    set(program [[${program}]])
    set(folder [[${folder}]])
    file(REMOVE_RECURSE \${folder})
    file(MAKE_DIRECTORY \${folder})
    execute_process(COMMAND [[${Python3_EXECUTABLE}]] [[${PROJECT_SOURCE_DIR}/scripts/manual]] \${program} \${folder}
                    COMMAND_ERROR_IS_FATAL ANY)
    foreach(shell bash zsh fish)
      execute_process(COMMAND \${program} completion \${shell} OUTPUT_FILE \${folder}/\${shell} COMMAND_ERROR_IS_FATAL ANY)
    endforeach()" COMPONENT command)
  install(FILES ${folder}/bochner.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
  install(FILES ${folder}/bochner-config.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 COMPONENT command)
  set(share ${CMAKE_INSTALL_DATADIR})
  install(FILES ${folder}/bash DESTINATION ${share}/bash-completion/completions COMPONENT command RENAME bochner)
  install(FILES ${folder}/zsh DESTINATION ${share}/zsh/site-functions COMPONENT command RENAME _bochner)
  install(FILES ${folder}/fish DESTINATION ${share}/fish/vendor_completions.d COMPONENT command RENAME bochner.fish)
endfunction()

if(TARGET bochner_launcher)
  set(bochner_installed_program $<TARGET_FILE:bochner_launcher>)
elseif(TARGET bochner_program)
  set(bochner_installed_program $<TARGET_FILE:bochner_program>)
endif()
if(bochner_installed_program AND Python3_FOUND AND NOT CMAKE_CROSSCOMPILING)
  bochner_install_manual(${bochner_installed_program})
else()
  message(STATUS "The manual pages and completion are not installed: they need Python and a program that runs here")
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSES.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/bochner COMPONENT command)
