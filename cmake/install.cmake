# Installation: headers, both libraries, the program, its manual, the CMake package and pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS kindred_shared EXPORT kindred-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS kindred_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS kindred RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/kindred DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(file IN LISTS KINDRED_GENERATED)
  if(file MATCHES "\\.1$")
    install(FILES ${file} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  elseif(file MATCHES "\\.bash$")
    install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kindred)
  else()
    install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  endif()
endforeach()

install(EXPORT kindred-targets NAMESPACE kindred:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kindred)
configure_package_config_file(cmake/kindred-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/kindred-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kindred)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/kindred-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kindred-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/kindred-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kindred)
# The prefix is only known when installing, so that pkg-config works out the folders from its own place.
file(RELATIVE_PATH KINDRED_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/kindred.pc.in ${CMAKE_CURRENT_BINARY_DIR}/kindred.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kindred.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
