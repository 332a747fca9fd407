# Functions that make our targets. Source lists are always explicit: a file that nobody lists is
# an error of the tidy test, not a surprise in the build.

# Puts into OUT the targets behind names: a folder of ours (model), a third-party package by the
# short name of packages.cmake (fmt), or a target as it is. An unknown name stops the configuration.
function(rehearse_resolve out)
  set(targets "")
  foreach(name IN LISTS ARGN)
    if(TARGET "rehearse::${name}")
      list(APPEND targets "rehearse::${name}")
    elseif(DEFINED "rehearse_external_${name}")
      list(APPEND targets "${rehearse_external_${name}}")
    elseif(TARGET "${name}")
      list(APPEND targets "${name}")
    else()
      message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}: no folder, package or target '${name}'")
    endif()
  endforeach()
  set(${out} "${targets}" PARENT_SCOPE)
endfunction()

# rehearse_library(<folder> SOURCES <cpp>... DEPS <folder>... EXTERNAL <package>...)
# makes the library rehearse::<folder>. DEPS are visible to whoever links it, EXTERNAL are not.
# Without sources it is an interface library: a folder of headers.
function(rehearse_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS;EXTERNAL")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rehearse_library(${folder}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target "rehearse_${folder}")
  rehearse_resolve(deps ${arg_DEPS})
  rehearse_resolve(external ${arg_EXTERNAL})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    target_link_libraries(${target} PUBLIC ${deps} PRIVATE rehearse_options ${external})
    target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}")
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${deps} ${external})
    target_include_directories(${target} INTERFACE "${PROJECT_SOURCE_DIR}")
  endif()
  add_library(rehearse::${folder} ALIAS ${target})
  set_property(GLOBAL APPEND PROPERTY REHEARSE_FOLDERS "${CMAKE_CURRENT_SOURCE_DIR}")
endfunction()

# rehearse_program(<name> SOURCES <cpp>... DEPS <folder>...) makes an executable at the root of the
# build folder. Without sources it makes nothing.
function(rehearse_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  if(NOT arg_SOURCES)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  rehearse_resolve(deps ${arg_DEPS})
  target_link_libraries(${name} PRIVATE rehearse_options ${deps})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
endfunction()

# rehearse_program_with_mutants(<name> SOURCES <cpp>... FOLDERS <folder>... DEPS <folder>...)
# makes an executable like rehearse_program, in which these folders are compiled a second time, with
# RH_MUTANTS. Their objects are linked themselves, in front of everything: they define whatever the
# libraries of the same folders define, so nothing is taken from those.
function(rehearse_program_with_mutants name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;FOLDERS;DEPS")
  set(objects "")
  foreach(folder IN LISTS arg_FOLDERS)
    get_target_property(sources rehearse_${folder} SOURCES)
    get_target_property(base rehearse_${folder} SOURCE_DIR)
    get_target_property(libraries rehearse_${folder} LINK_LIBRARIES)
    list(TRANSFORM sources PREPEND "${base}/")
    add_library(${name}_${folder} OBJECT ${sources})
    target_link_libraries(${name}_${folder} PRIVATE ${libraries})
    target_include_directories(${name}_${folder} PRIVATE "${PROJECT_SOURCE_DIR}")
    target_compile_definitions(${name}_${folder} PRIVATE RH_MUTANTS)
    # A source is listed once there, as everybody else compiles it.
    set_target_properties(${name}_${folder} PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
    list(APPEND objects $<TARGET_OBJECTS:${name}_${folder}>)
  endforeach()
  rehearse_program(${name} SOURCES ${arg_SOURCES} ${objects} DEPS ${arg_DEPS})
endfunction()

# rehearse_test(<name> SOURCES <cpp>... LIBS <folder or package>... [LABELS quick|full])
# makes one doctest binary and registers it. It runs from the root of the tree, so tests name their
# files from there. The label is quick unless said otherwise. Without sources it makes nothing.
function(rehearse_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS;LABELS")
  if(NOT arg_SOURCES)
    return()
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS quick)
  endif()
  add_executable(${name} ${arg_SOURCES})
  rehearse_resolve(libs ${arg_LIBS})
  target_link_libraries(${name} PRIVATE rehearse_options test_main doctest::doctest ${libs})
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 600)
endfunction()

# rehearse_script_test(<name> SCRIPT <file> [ARGS ...] LABELS quick|full|tidy)
# registers a python3 (.py) or bash (.sh) script. It runs from the root of the tree and gets, in the
# environment, REHEARSE_BUILD_DIR (the build folder) and REHEARSE_PROGRAM (the executable rehearse).
function(rehearse_script_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SCRIPT" "ARGS;LABELS")
  if(arg_SCRIPT MATCHES "\\.py$")
    set(interpreter "${Python3_EXECUTABLE}" -B)
  else()
    set(interpreter bash)
  endif()
  add_test(NAME ${name}
    COMMAND ${interpreter} "${CMAKE_CURRENT_SOURCE_DIR}/${arg_SCRIPT}" ${arg_ARGS}
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 600 ENVIRONMENT
    "REHEARSE_BUILD_DIR=${CMAKE_BINARY_DIR};REHEARSE_PROGRAM=${CMAKE_BINARY_DIR}/rehearse")
endfunction()

# rehearse_header_checks() makes the target header_checks, which compiles every header of every
# folder alone, and the test headers_alone, which builds that target. Headers are found, not listed:
# one that is forgotten here would be one that is not checked.
function(rehearse_header_checks)
  get_property(folders GLOBAL PROPERTY REHEARSE_FOLDERS)
  set(units "")
  foreach(folder IN LISTS folders)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${folder}/*.hpp")
    foreach(header IN LISTS headers)
      set(unit "${CMAKE_BINARY_DIR}/header_checks/${header}.cpp")
      file(CONFIGURE OUTPUT "${unit}" CONTENT "#include \"${header}\"  // IWYU pragma: keep\n")
      list(APPEND units "${unit}")
    endforeach()
  endforeach()
  if(NOT units)
    return()
  endif()
  add_library(header_checks OBJECT EXCLUDE_FROM_ALL ${units})
  target_link_libraries(header_checks PRIVATE rehearse_options fmt::fmt)
  target_compile_options(header_checks PRIVATE -O0 -g0)
  add_test(NAME headers_alone
    COMMAND "${CMAKE_COMMAND}" --build "${CMAKE_BINARY_DIR}" --target header_checks -j 2
      -- -k 0)
  set_tests_properties(headers_alone PROPERTIES LABELS full RUN_SERIAL ON TIMEOUT 600)
endfunction()
