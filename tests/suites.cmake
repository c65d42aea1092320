# Read by ctest: each suite of `program`, which the `emulator` runs if there is one, is a test PREFIX.SUITE.
execute_process(COMMAND ${emulator} ${program} --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  add_test(${program} ${emulator} ${program}) # fails, and says why
  return()
endif()
set(seconds 1200)
if(emulator)
  set(seconds 36000)
endif()
string(REGEX MATCHALL "\n[^ \n]+\\." suites "\n${listed}")
foreach(suite ${suites})
  string(REGEX REPLACE "\n(.+)\\." "\\1" suite ${suite})
  add_test(${prefix}.${suite} ${emulator} ${program} --gtest_filter=${suite}.*)
  set_tests_properties(${prefix}.${suite} PROPERTIES TIMEOUT ${seconds})
  if(suite MATCHES /) # with parameters: the long ones begin first
    set_tests_properties(${prefix}.${suite} PROPERTIES COST 500)
  endif()
endforeach()
