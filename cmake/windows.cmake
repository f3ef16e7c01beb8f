# Toolchain file: cross compilation for Windows (x86-64) with mingw-w64 and POSIX threads. SPDX-License-Identifier: BSD-3-Clause
# Debian: gcc-mingw-w64-x86-64-posix, libz-mingw-w64-dev; to run what is built: wine64. KINDRED_SYSROOT is a folder with more
# libraries for Windows, as tools/libraries.sh makes.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(KINDRED_SYSROOT "" CACHE PATH "Libraries for Windows")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES KINDRED_SYSROOT)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32 ${KINDRED_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/../tools/wine.sh)
