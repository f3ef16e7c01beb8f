# The R package: overhead of a call. SPDX-License-Identifier: BSD-3-Clause
#
# Usage: Rscript bench/r.R [--rows 10000] [--threads 1] [--out FOLDER]
#            (make r, then R CMD INSTALL build/r/kindred_*.tar.gz)
#
# kd_cluster() on a sparse matrix compared with the C call alone, and the memory that the conversion takes
library(kindred)
arguments <- commandArgs(TRUE)
value_of <- function(name, otherwise) if (name %in% arguments) arguments[match(name, arguments) + 1] else otherwise
out <- value_of("--out", "bench/results")
threads <- as.integer(value_of("--threads", "1"))

machine <- function() {
  info <- if (file.exists("/proc/cpuinfo")) grep("^model name", readLines("/proc/cpuinfo"), value = TRUE) else ""
  paste0(sub(".*: ", "", info[1]), ", ", parallel::detectCores(), " cores")
}
write_result <- function(rows, name) {
  path <- file.path(out, paste0("r-", name, ".csv"))
  lines <- utils::capture.output(utils::write.csv(rows, row.names = FALSE, quote = FALSE))
  writeLines(c(paste0("# Rscript bench/r.R ", name, "; ", Sys.Date(), "; ", machine(), "; R ", getRversion(), "; ", threads, " thread(s)"), lines), path)
  cat("written:", path, "\n")
  print(rows)
}
# Processor time, which depends less on other work on the machine.
seconds_of <- function(code) sum(system.time(code)[c("user.self", "sys.self")])
resident <- function() {
  gc(full = TRUE)
  as.numeric(sub("[^0-9]*([0-9]+).*", "\\1", grep("^VmRSS", readLines("/proc/self/status"), value = TRUE))) * 1024
}

overhead <- function() {
  rows <- as.integer(value_of("--rows", "10000"))
  set.seed(1)
  x <- Matrix::rsparsematrix(rows, 2000, 0.05, rand.x = function(n) rpois(n, 2) + 1)
  across <- Matrix::t(x)
  # Memory first: later, what other calls have freed would be used again.
  held <- function(m, transposed) {
    session <- kindred:::session_open()
    before <- resident()
    set <- kindred:::matrix_set(session, m, "task", transposed = transposed)
    used <- resident() - before
    kindred:::owned(session, list(set))
    kindred:::session_close(session)
    used
  }
  memory <- c(transpose = held(x, FALSE), columns = held(across, TRUE))
  k <- 20L
  fit <- function() kd_cluster(x, k = k, method = "kmeans", norm = "l2", map = FALSE, threads = threads)
  # The same call with the data set at hand: what is left is preprocessing and the fit in C.
  how <- c(kindred:::job_settings(kindred:::find_method("kmeans", "cluster"), list(), NULL, "l2", NULL, NULL, NULL, NULL, NULL, "default"),
           list(k = k, pooled = FALSE, quality = FALSE, resamples = 0, map = FALSE, model = FALSE, score = FALSE))
  plain <- function() {
    session <- kindred:::session_open(threads = threads)
    on.exit(kindred:::session_close(session))
    set <- kindred:::owned(session, list(kindred:::matrix_set(session, x, "task")))
    seconds_of(kindred:::call_c(session, kindred:::C_run_cluster, set, how))
  }
  fit()
  rounds <- lapply(1:15, function(i) c(package = seconds_of(fit()), c_call = plain()))
  times <- apply(do.call(rbind, rounds), 2, min) # the fastest round is the least disturbed one
  data.frame(rows = rows, columns = 2000, entries = length(x@x), seconds = times[["package"]], c_seconds = times[["c_call"]],
             overhead_percent = round(100 * (times[["package"]] / times[["c_call"]] - 1), 2), data_bytes = 12 * length(x@x),
             transpose_bytes = memory[["transpose"]], samples_in_columns_bytes = memory[["columns"]])
}

write_result(overhead(), "overhead")
