# Two related data sets of 40 and 30 samples in three well separated groups, with known classes.
blobs <- function(seed = 1, shift = 0.2) {
  set <- function(n, move, first) {
    class <- rep(c("x", "y", "z"), length.out = n)
    angle <- (seq_len(n) * 2.39996 + first) %% (2 * pi)
    radius <- sqrt((seq_len(n) * 0.618 + seed) %% 1)
    centre <- rbind(x = c(3, 3), y = c(11, 4), z = c(5, 12))[class, ]
    values <- cbind(a = centre[, 1] + radius * cos(angle) + move, b = centre[, 2] + radius * sin(angle) - move, c = 4 * radius)
    rownames(values) <- paste0(first, "_", seq_len(n))
    list(x = values, y = factor(class))
  }
  list(a = set(40, 0, 1), b = set(30, shift, 2))
}
two <- function(...) lapply(blobs(...), `[[`, "x")

# Word counts, sparse, with known topics.
topics <- function(samples = 40, words = 120, k = 3, seed = 1) kd_generate("topics", k = k, samples = samples, words = words, length = 60, seed = seed)

error_of <- function(code) tryCatch({ code; NULL }, kindred_error = identity)
expect_kindred_error <- function(code, pattern, status = NULL) {
  error <- error_of(code)
  testthat::expect_s3_class(error, "kindred_error")
  testthat::expect_match(conditionMessage(error), pattern)
  if (!is.null(status)) testthat::expect_identical(error$status, status)
}

program <- function() {
  path <- Sys.getenv("KINDRED")
  testthat::skip_if(!nzchar(path), "KINDRED does not name the program")
  path
}
run_program <- function(...) {
  out <- suppressWarnings(system2(program(), shQuote(c(...)), stdout = TRUE, stderr = TRUE))
  if (!is.null(attr(out, "status"))) stop(paste(out, collapse = "\n"))
  out
}
write_csv <- function(x, path) {
  lines <- apply(x, 1, function(row) paste(sprintf("%.17g", row), collapse = ","))
  writeLines(c(paste(colnames(x), collapse = ","), lines), path)
  path
}
quiet <- function(code) withCallingHandlers(code, kindred_warning = function(w) invokeRestart("muffleWarning"))
need_hdf5 <- function() testthat::skip_if(!grepl("hdf5: yes", kd_build()), "the build has no HDF5")
