# What follows the number in `kindred version`: nothing in a release, "-dev+COMMIT" in any other source. SPDX-License-Identifier: BSD-3-Clause
#
#   cmake -DOUTPUT=FILE -P cmake/version_suffix.cmake   writes a header, if what it should contain has changed
#   cmake -P cmake/version_suffix.cmake                 prints the suffix
#
# A source is a release if the newest entry of CHANGELOG.md is not "(unreleased)". The commit is that of the checkout or, in a tarball,
# the one that git archive has put into cmake/commit.txt. Without either the suffix is "-dev".
cmake_minimum_required(VERSION 3.22)
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(suffix "")
file(STRINGS "${root}/CHANGELOG.md" newest REGEX "^## " LIMIT_COUNT 1)
if(newest MATCHES "\\(unreleased\\)")
  set(suffix -dev)
  file(STRINGS "${root}/cmake/commit.txt" commit LIMIT_COUNT 1)
  if(EXISTS "${root}/.git") # not the repository of a project that contains this one
    execute_process(COMMAND git -C "${root}" rev-parse HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(commit MATCHES "^[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]")
    string(APPEND suffix "+${CMAKE_MATCH_0}")
  endif()
endif()
if(OUTPUT)
  file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "#define KDR_VERSION_SUFFIX \"@suffix@\"\n" @ONLY) # leaves an equal file as it is
else()
  execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "${suffix}")
endif()
