# Toolchain file: cross compilation for Linux on another processor. SPDX-License-Identifier: BSD-3-Clause
# KINDRED_PROCESSOR is that processor: aarch64 or x86_64. Debian: gcc-aarch64-linux-gnu or gcc-x86-64-linux-gnu; to run what is
# built: qemu-user-static. KINDRED_SYSROOT is a folder with libraries for it, as tools/package/sysroot.sh makes.
set(KINDRED_PROCESSOR aarch64 CACHE STRING "Processor to compile for")
set(KINDRED_SYSROOT "" CACHE PATH "Libraries for this processor")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES KINDRED_PROCESSOR KINDRED_SYSROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${KINDRED_PROCESSOR})
set(CMAKE_C_COMPILER ${KINDRED_PROCESSOR}-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE ${KINDRED_PROCESSOR}-linux-gnu)
set(CMAKE_FIND_ROOT_PATH /usr/${KINDRED_PROCESSOR}-linux-gnu ${KINDRED_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
find_program(KINDRED_QEMU qemu-${KINDRED_PROCESSOR}-static)
if(KINDRED_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${KINDRED_QEMU})
endif()
