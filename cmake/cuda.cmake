# The plug-in for NVIDIA GPUs, libkindred_cuda.so. SPDX-License-Identifier: BSD-3-Clause
#
# Built where nvcc is found, by commands of its own: no other part of kindred needs CUDA, and the library finds the plug-in when
# it runs. Machine code for Hopper, and PTX that newer ones translate.
set(KINDRED_CUDA AUTO CACHE STRING "CUDA, for the plug-in: ON, OFF or AUTO (build it if nvcc is there)")
set_property(CACHE KINDRED_CUDA PROPERTY STRINGS AUTO ON OFF)
set(KINDRED_HAVE_CUDA OFF)
if(NOT KINDRED_CUDA)
  list(APPEND KINDRED_SUMMARY "cuda: no: KINDRED_CUDA=${KINDRED_CUDA}")
  return()
endif()
find_program(KINDRED_NVCC nvcc HINTS /usr/local/cuda/bin ENV CUDA_PATH PATH_SUFFIXES bin)
mark_as_advanced(KINDRED_NVCC)
if(KINDRED_NVCC)
  get_filename_component(cuda ${KINDRED_NVCC} REALPATH)
  get_filename_component(cuda ${cuda}/../.. ABSOLUTE)
  foreach(name cublas cusolver)
    find_library(KINDRED_${name} ${name} HINTS ${cuda}/lib64 ${cuda}/lib)
    mark_as_advanced(KINDRED_${name})
  endforeach()
endif()
if(NOT KINDRED_NVCC OR NOT KINDRED_cublas OR NOT KINDRED_cusolver)
  if(NOT KINDRED_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "KINDRED_CUDA=${KINDRED_CUDA}, but nvcc, cuBLAS and cuSOLVER were not found: put nvcc on the path, or set it to OFF")
  endif()
  list(APPEND KINDRED_SUMMARY "cuda: no: nvcc, cuBLAS and cuSOLVER were not found")
  return()
endif()
set(KINDRED_HAVE_CUDA ON)
list(APPEND KINDRED_SUMMARY "cuda: ${KINDRED_NVCC}")

# In the build's library folder: programs and tests of the build tree find it there as installed ones do (matrix/device_use.c).
include(GNUInstallDirs)
set(KINDRED_CUDA_PLUGIN ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/libkindred_cuda.so)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
set(flags -std=c++17 --extended-lambda -O3 -lineinfo -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90
    -Xcompiler -fPIC,-fvisibility=hidden,-Wall -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include)
if(KINDRED_WERROR)
  list(APPEND flags -Werror all-warnings)
endif()
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/matrix/cuda/*.cu)
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/matrix/cuda/*.cuh)
set(objects "")
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  set(object ${PROJECT_BINARY_DIR}/src/cuda_${name}.o)
  add_custom_command(OUTPUT ${object} COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${KINDRED_NVCC} ${flags} -c ${source} -o ${object}
                     DEPENDS ${source} ${headers} ${PROJECT_SOURCE_DIR}/src/matrix/device.h
                     COMMENT "Compiling ${name}.cu" VERBATIM)
  list(APPEND objects ${object})
endforeach()
add_custom_command(OUTPUT ${KINDRED_CUDA_PLUGIN} COMMAND ${KINDRED_NVCC} --shared -o ${KINDRED_CUDA_PLUGIN} ${objects}
                   -Xlinker --no-undefined ${KINDRED_cublas} ${KINDRED_cusolver} -lcudart_static
                   DEPENDS ${objects} COMMENT "Linking libkindred_cuda.so" VERBATIM)
add_custom_target(kindred_cuda ALL DEPENDS ${KINDRED_CUDA_PLUGIN})
