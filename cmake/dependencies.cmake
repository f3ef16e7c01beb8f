# What kindred is built on; docs/dependencies.md says why. SPDX-License-Identifier: BSD-3-Clause
#
# A C compiler is needed, and BLAS and LAPACK unless KINDRED_BLAS is builtin. Everything else is a part that can be left out: KINDRED_<PART> is ON (stop
# where it is missing), OFF (do without) or AUTO (take it if it is there). What a build lacks it says itself: in the summary
# here, in 'kindred version -v', and in the one line of a command that would need it.

set(KINDRED_SUMMARY "")
set(KINDRED_PARTS "")
set(KINDRED_LINK "") # the libraries, for pkg-config --static

# kindred_part(NAME package HEADER h LIBRARY names... [SUFFIXES folders...]): finds one header and one library, and makes the
# target kindred_<name in lower case>, empty where the part is left out. KINDRED_HAVE_<NAME> tells.
function(kindred_part name package)
  cmake_parse_arguments(PART "" "HEADER" "LIBRARY;SUFFIXES" ${ARGN})
  set(KINDRED_${name} AUTO CACHE STRING "${package}: ON, OFF or AUTO (take it if it is there)")
  set_property(CACHE KINDRED_${name} PROPERTY STRINGS AUTO ON OFF)
  string(TOLOWER kindred_${name} target)
  add_library(${target} INTERFACE)
  set(have OFF)
  if(KINDRED_${name})
    find_path(KINDRED_${name}_INCLUDE NAMES ${PART_HEADER} PATH_SUFFIXES ${PART_SUFFIXES})
    find_library(KINDRED_${name}_LIBRARY NAMES ${PART_LIBRARY} PATH_SUFFIXES ${PART_SUFFIXES})
    mark_as_advanced(KINDRED_${name}_INCLUDE KINDRED_${name}_LIBRARY)
    if(KINDRED_${name}_INCLUDE AND KINDRED_${name}_LIBRARY)
      set(have ON)
      target_include_directories(${target} SYSTEM INTERFACE ${KINDRED_${name}_INCLUDE})
      target_link_libraries(${target} INTERFACE ${KINDRED_${name}_LIBRARY})
      set(line "${KINDRED_${name}_LIBRARY}")
    elseif(KINDRED_${name} STREQUAL "AUTO")
      set(line "no: not found (Debian: ${package})")
    else()
      message(FATAL_ERROR "KINDRED_${name}=${KINDRED_${name}}, but it was not found: install ${package} (Debian/Ubuntu), or set it to OFF")
    endif()
  else()
    set(line "no: KINDRED_${name}=${KINDRED_${name}}")
  endif()
  string(TOLOWER ${name} lower)
  set(KINDRED_HAVE_${name} ${have} PARENT_SCOPE)
  set(KINDRED_SUMMARY ${KINDRED_SUMMARY} "${lower}: ${line}" PARENT_SCOPE)
endfunction()

# BLAS and LAPACK. system: OpenBLAS's OpenMP build if it is available (one thread pool for both), else whatever FindBLAS and
# FindLAPACK give. builtin: our own (src/matrix/builtin).
set(KINDRED_BLAS system CACHE STRING "BLAS and LAPACK: system (an installed library) or builtin")
set_property(CACHE KINDRED_BLAS PROPERTY STRINGS system builtin)
add_library(kindred_blas INTERFACE)
if(KINDRED_BLAS STREQUAL "builtin")
  set(KINDRED_BLAS_LIBRARY builtin)
elseif(NOT KINDRED_BLAS STREQUAL "system")
  message(FATAL_ERROR "KINDRED_BLAS=${KINDRED_BLAS}: use system or builtin")
else()
  file(GLOB KINDRED_BLAS_DIRS /usr/lib/*/openblas-openmp)
  find_library(KINDRED_OPENBLAS NAMES openblas HINTS ${KINDRED_BLAS_DIRS})
  if(KINDRED_OPENBLAS)
    target_link_libraries(kindred_blas INTERFACE ${KINDRED_OPENBLAS})
    set(KINDRED_BLAS_LIBRARY ${KINDRED_OPENBLAS})
    list(APPEND KINDRED_LINK ${KINDRED_OPENBLAS})
  else()
    find_package(BLAS REQUIRED)
    find_package(LAPACK REQUIRED)
    target_link_libraries(kindred_blas INTERFACE LAPACK::LAPACK BLAS::BLAS)
    list(APPEND KINDRED_LINK ${LAPACK_LIBRARIES} ${BLAS_LIBRARIES})
    list(GET BLAS_LIBRARIES 0 KINDRED_BLAS_LIBRARY)
  endif()
endif()
list(APPEND KINDRED_SUMMARY "blas, lapack: ${KINDRED_BLAS_LIBRARY}")

kindred_part(HDF5 libhdf5-dev HEADER hdf5.h LIBRARY hdf5_serial hdf5 SUFFIXES hdf5/serial)
kindred_part(ZLIB zlib1g-dev HEADER zlib.h LIBRARY z)
kindred_part(EXPAT libexpat1-dev HEADER expat.h LIBRARY expat)
kindred_part(UTF8PROC libutf8proc-dev HEADER utf8proc.h LIBRARY utf8proc)
kindred_part(STEMMER libstemmer-dev HEADER libstemmer.h LIBRARY stemmer)
kindred_part(LIBSVM libsvm-dev HEADER libsvm/svm.h LIBRARY svm)
if(KINDRED_STATIC AND KINDRED_HAVE_HDF5 AND NOT EMSCRIPTEN) # what the static library of Debian needs
  find_library(KINDRED_SZ sz REQUIRED)
  find_library(KINDRED_AEC aec REQUIRED)
  mark_as_advanced(KINDRED_SZ KINDRED_AEC)
  target_link_libraries(kindred_hdf5 INTERFACE ${KINDRED_SZ} ${KINDRED_AEC} kindred_zlib ${CMAKE_DL_LIBS} m)
endif()
if(KINDRED_STATIC AND KINDRED_HAVE_LIBSVM AND NOT EMSCRIPTEN) # which is C++
  target_link_libraries(kindred_libsvm INTERFACE stdc++ m)
endif()
# Part of most C libraries.
set(KINDRED_ICONV AUTO CACHE STRING "iconv: ON, OFF or AUTO (take it if it is there)")
set_property(CACHE KINDRED_ICONV PROPERTY STRINGS AUTO ON OFF)
set(KINDRED_HAVE_ICONV OFF)
add_library(kindred_iconv INTERFACE)
if(KINDRED_ICONV)
  find_package(Iconv QUIET)
  set(KINDRED_HAVE_ICONV ${Iconv_FOUND})
endif()
if(KINDRED_HAVE_ICONV)
  target_link_libraries(kindred_iconv INTERFACE Iconv::Iconv)
  set(KINDRED_ICONV_LIBRARY ${Iconv_LIBRARIES})
  list(APPEND KINDRED_SUMMARY "iconv: yes")
else()
  list(APPEND KINDRED_SUMMARY "iconv: no")
endif()
if(WIN32) # libraries that tools/libraries.sh made: their headers describe a DLL unless these names are defined
  target_compile_definitions(kindred_expat INTERFACE XML_STATIC)
  target_compile_definitions(kindred_utf8proc INTERFACE UTF8PROC_STATIC)
  target_link_libraries(kindred_hdf5 INTERFACE kindred_zlib)
  if(KINDRED_HAVE_LIBSVM)
    target_link_libraries(kindred_libsvm INTERFACE stdc++)
  endif()
endif()
set(KINDRED_PARTS HDF5 ZLIB EXPAT UTF8PROC STEMMER LIBSVM ICONV)
foreach(part IN LISTS KINDRED_PARTS)
  if(KINDRED_HAVE_${part})
    list(APPEND KINDRED_LINK ${KINDRED_${part}_LIBRARY})
  endif()
endforeach()

if(KINDRED_TESTS)
  kindred_part(CMOCKA libcmocka-dev HEADER cmocka.h LIBRARY cmocka)
endif()

set(KINDRED_OPENMP AUTO CACHE STRING "OpenMP, for threads: ON, OFF or AUTO (take it if it is there)")
set_property(CACHE KINDRED_OPENMP PROPERTY STRINGS AUTO ON OFF)
set(KINDRED_HAVE_OPENMP OFF)
if(KINDRED_OPENMP)
  find_package(OpenMP COMPONENTS C)
  set(KINDRED_HAVE_OPENMP ${OpenMP_C_FOUND})
  if(NOT OpenMP_C_FOUND AND NOT KINDRED_OPENMP STREQUAL "AUTO")
    message(FATAL_ERROR "KINDRED_OPENMP=${KINDRED_OPENMP}, but the compiler has none: set it to OFF")
  endif()
endif()
if(KINDRED_HAVE_OPENMP)
  list(APPEND KINDRED_SUMMARY "openmp: ${OpenMP_C_VERSION}")
else()
  list(APPEND KINDRED_SUMMARY "openmp: no: everything runs on one thread")
  # What only its pragmas name is not used then.
  add_compile_options(-Wno-unused -Wno-unused-parameter)
endif()

# MPI, for rows on several machines: never by itself, so that the plain build has no trace of it.
option(KINDRED_MPI "Rows on several processes, through MPI (Debian: libopenmpi-dev)" OFF)
if(KINDRED_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
  list(APPEND KINDRED_SUMMARY "mpi: ${MPI_C_LIBRARY_VERSION_STRING} ${MPI_C_LIBRARIES}")
endif()

# Kernels compiled for several instruction sets and chosen at run time, where compiler and libc can.
include(CheckCSourceCompiles)
if(NOT KINDRED_SANITIZE) # the resolvers run before a sanitizer's run time is up
  check_c_source_compiles("
    __attribute__((target_clones(\"arch=x86-64-v4\", \"arch=x86-64-v3\", \"default\")))
    int f(int x) { return x + 1; }
    __attribute__((target(\"arch=x86-64-v4\"))) static int g(int x) { return x + 1; }
    int main(void) { return __builtin_cpu_supports(\"x86-64-v4\") ? f(-1) : g(-1); }" KDR_HAVE_TARGET_CLONES)
endif()

# Windows has no functions that are chosen while a program is loaded, so only the kernels of matrix/each_machine.h are compiled
# for several instruction sets. There gcc takes the stack to be aligned for wide registers, which it is not (gcc's bug 54412):
# the assembler makes moves of them that need no alignment.
if(WIN32 AND NOT KDR_HAVE_TARGET_CLONES)
  set(CMAKE_REQUIRED_FLAGS -Wa,-muse-unaligned-vector-move)
  check_c_source_compiles("
    __attribute__((target(\"arch=x86-64-v4\"))) static int g(int x) { return x + 1; }
    int main(void) { return __builtin_cpu_supports(\"x86-64-v4\") ? 0 : g(-1); }" KDR_HAVE_TARGETS)
  unset(CMAKE_REQUIRED_FLAGS)
endif()

# Which symbols the shared library shows, under the version they are promised with.
include(CheckLinkerFlag)
file(WRITE ${PROJECT_BINARY_DIR}/empty.map "{};\n")
check_linker_flag(C "LINKER:--version-script=${PROJECT_BINARY_DIR}/empty.map" KINDRED_VERSION_SCRIPTS)
