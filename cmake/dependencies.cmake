# What kindred is built on; docs/dependencies.md says why. SPDX-License-Identifier: BSD-3-Clause
#
# Required ones stop the configuration with the name of the Debian package; optional ones are reported.

set(KINDRED_SUMMARY "")
find_package(PkgConfig REQUIRED)

macro(kindred_require target pkg package)
  pkg_check_modules(${target} IMPORTED_TARGET ${pkg})
  if(NOT ${target}_FOUND)
    message(FATAL_ERROR "${pkg} was not found: install ${package} (Debian/Ubuntu), or run 'make setup'")
  endif()
  list(APPEND KINDRED_SUMMARY "${pkg} ${${target}_VERSION}")
endmacro()

# BLAS and LAPACK: OpenBLAS's OpenMP build if it is there (one thread pool for both), else whatever
# FindBLAS and FindLAPACK give, as long as it has the CBLAS interface.
set(KINDRED_BLAS_DIRS "")
file(GLOB KINDRED_BLAS_DIRS /usr/lib/*/openblas-openmp)
find_library(KINDRED_OPENBLAS NAMES openblas HINTS ${KINDRED_BLAS_DIRS})
find_path(KINDRED_CBLAS_INCLUDE NAMES cblas.h
          PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE} ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp)
add_library(kindred_blas INTERFACE)
if(KINDRED_OPENBLAS)
  target_link_libraries(kindred_blas INTERFACE ${KINDRED_OPENBLAS})
  set(KINDRED_BLAS ${KINDRED_OPENBLAS})
else()
  find_package(BLAS REQUIRED)
  find_package(LAPACK REQUIRED)
  find_library(KINDRED_CBLAS NAMES cblas)
  target_link_libraries(kindred_blas INTERFACE LAPACK::LAPACK BLAS::BLAS)
  if(KINDRED_CBLAS)
    target_link_libraries(kindred_blas INTERFACE ${KINDRED_CBLAS})
  endif()
  list(GET BLAS_LIBRARIES 0 KINDRED_BLAS)
endif()
list(APPEND KINDRED_SUMMARY "BLAS/LAPACK ${KINDRED_BLAS}")
if(NOT KINDRED_CBLAS_INCLUDE)
  message(FATAL_ERROR "cblas.h was not found: install libopenblas-openmp-dev (Debian/Ubuntu), or run 'make setup'")
endif()
target_include_directories(kindred_blas INTERFACE ${KINDRED_CBLAS_INCLUDE})

kindred_require(ZLIB zlib zlib1g-dev)
kindred_require(UTF8PROC libutf8proc libutf8proc-dev)

# Snowball's stemmers: no pkg-config file.
find_path(KINDRED_STEMMER_INCLUDE NAMES libstemmer.h)
find_library(KINDRED_STEMMER NAMES stemmer)
if(NOT KINDRED_STEMMER_INCLUDE OR NOT KINDRED_STEMMER)
  message(FATAL_ERROR "libstemmer was not found: install libstemmer-dev (Debian/Ubuntu), or run 'make setup'")
endif()
add_library(kindred_stemmer INTERFACE)
target_link_libraries(kindred_stemmer INTERFACE ${KINDRED_STEMMER})
target_include_directories(kindred_stemmer INTERFACE ${KINDRED_STEMMER_INCLUDE})
list(APPEND KINDRED_SUMMARY "libstemmer ${KINDRED_STEMMER}")

# LIBSVM: no pkg-config file.
find_path(KINDRED_LIBSVM_INCLUDE NAMES libsvm/svm.h)
find_library(KINDRED_LIBSVM NAMES svm)
if(NOT KINDRED_LIBSVM_INCLUDE OR NOT KINDRED_LIBSVM)
  message(FATAL_ERROR "LIBSVM was not found: install libsvm-dev (Debian/Ubuntu), or run 'make setup'")
endif()
add_library(kindred_libsvm INTERFACE)
target_link_libraries(kindred_libsvm INTERFACE ${KINDRED_LIBSVM})
target_include_directories(kindred_libsvm INTERFACE ${KINDRED_LIBSVM_INCLUDE})
list(APPEND KINDRED_SUMMARY "libsvm ${KINDRED_LIBSVM}")

# HDF5's serial C library: Debian's pkg-config name first, then CMake's own module.
pkg_check_modules(HDF5PC IMPORTED_TARGET hdf5-serial)
if(NOT HDF5PC_FOUND)
  pkg_check_modules(HDF5PC IMPORTED_TARGET hdf5)
endif()
if(NOT HDF5PC_FOUND)
  message(FATAL_ERROR "HDF5 was not found: install libhdf5-dev (Debian/Ubuntu), or run 'make setup'")
endif()
list(APPEND KINDRED_SUMMARY "hdf5 ${HDF5PC_VERSION}")

find_package(OpenMP COMPONENTS C)
list(APPEND KINDRED_SUMMARY "OpenMP ${OpenMP_C_FOUND} ${OpenMP_C_VERSION}")

# Kernels compiled for several instruction sets and chosen at run time, where compiler and libc can.
include(CheckCSourceCompiles)
if(NOT KINDRED_SANITIZE) # the resolvers run before a sanitizer's run time is up
  check_c_source_compiles("
    __attribute__((target_clones(\"arch=x86-64-v4\", \"arch=x86-64-v3\", \"default\")))
    int f(int x) { return x + 1; }
    __attribute__((target(\"arch=x86-64-v4\"))) static int g(int x) { return x + 1; }
    int main(void) { return __builtin_cpu_supports(\"x86-64-v4\") ? f(-1) : g(-1); }" KDR_HAVE_TARGET_CLONES)
endif()
