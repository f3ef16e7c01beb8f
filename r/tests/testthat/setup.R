Sys.setenv(OMP_NUM_THREADS = "2") # checks of packages may use two cores
