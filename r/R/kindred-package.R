#' kindred: cluster related data sets together and transfer labels between them
#'
#' [kd_cluster()] clusters several data sets together, so that matching clusters
#' get the same number. [kd_transfer()] labels a data set with the classes of
#' another one. [kd_relate()] measures how related data sets are, and [kd_embed()]
#' computes a two-dimensional map of their samples.
#'
#' Samples are in rows and features in columns, except for `SingleCellExperiment`
#' and `Seurat` objects, whose samples are in columns. Labels, models and reports
#' are the same as those of the command-line program and of the Python package.
#'
#' The package never uses or changes the random numbers of R. Use the argument
#' `seed` instead.
#'
#' @section Errors, warnings and interruption:
#' Errors are conditions of the class `kindred_error`. Their element `status` is
#' the number of the error (10: argument, 11: option, 12: the file exists, 20:
#' data, 21: format, 22: read, 30: numeric, 40: memory, 41: size, 50: write, 60:
#' unsupported, 90: internal), and `kind` is its name. Warnings have the class
#' `kindred_warning`. An interrupt (Ctrl-C or Esc) stops a computation within a
#' second and signals a condition of the class `interrupt`, whose element
#' `result` is the best result so far, if there is one.
#'
#' @useDynLib kindred, .registration = TRUE
#' @importFrom graphics legend par
#' @importFrom stats predict
#' @importFrom utils head
#' @keywords internal
"_PACKAGE"
