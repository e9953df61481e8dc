# Targets are made from folders: every .cc of a folder is its library, every *_test.cc a unit test, every *_fuzz.cc a
# fuzz target, so that a new file needs no line here.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(benchctl_options INTERFACE)
target_include_directories(benchctl_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(benchctl_options INTERFACE -Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers
                       -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -fno-omit-frame-pointer
                       -ffunction-sections -fdata-sections)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Optimised flow analysis of newer GCCs sees uninitialised values inside std::optional and std::variant that are not.
  target_compile_options(benchctl_options INTERFACE -Wno-maybe-uninitialized)
endif()
target_compile_definitions(benchctl_options INTERFACE BENCHCTL_VERSION="${PROJECT_VERSION}")
if(BENCHCTL_SANITIZE)
  target_compile_options(benchctl_options INTERFACE -fsanitize=${BENCHCTL_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(benchctl_options INTERFACE -fsanitize=${BENCHCTL_SANITIZE})
endif()
if(BENCHCTL_FUZZ)
  target_compile_options(benchctl_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(BENCHCTL_FUZZ)
  add_custom_target(fuzzers)  # all of them and nothing else
endif()
if(NOT BENCHCTL_AGENT_ONLY)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# benchctl_library(NAME [DEPS target...]): the folder's .cc files; its tests carry the label `unit`.
# Tests that need root, a machine or a network stand in tests/ and carry other labels.
function(benchctl_library name)
  cmake_parse_arguments(ARG "" "" "DEPS;TEST_DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|/main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC benchctl_options ${ARG_DEPS})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE benchctl_options ${ARG_DEPS})
  endif()
  if(tests AND NOT BENCHCTL_AGENT_ONLY AND NOT BENCHCTL_FUZZ)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE ${name} ${ARG_TEST_DEPS} GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE BENCHCTL_SOURCE_DIR="${PROJECT_SOURCE_DIR}" BENCHCTL_BINARY_DIR="${CMAKE_BINARY_DIR}")
    gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST PROPERTIES LABELS unit TIMEOUT 300)
  endif()
  if(BENCHCTL_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(target ${fuzzer} NAME_WE)
      add_executable(${target} ${fuzzer})
      add_dependencies(fuzzers ${target})
      target_link_libraries(${target} PRIVATE ${name} -fsanitize=fuzzer)
      # The committed corpus is replayed in full, then a short random search; tests/corpus/<target>/ holds one file an input.
      add_test(NAME fuzz.${target}
               COMMAND ${target} -runs=2000 -max_total_time=30 -timeout=10 -rss_limit_mb=2048 ${CMAKE_BINARY_DIR}/found/${target}
                       ${PROJECT_SOURCE_DIR}/tests/corpus/${target})
      file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/found/${target})
      set_tests_properties(fuzz.${target} PROPERTIES LABELS fuzz TIMEOUT 120)
    endforeach()
  endif()
endfunction()
