# A process of its own sends the interrupt, as Ctrl-C would, while a fit of many runs is under way.
long_fit <- function(...) {
  x <- lapply(kd_generate("blobs", k = 20, tasks = 2, samples = 3000, features = 30, separation = 1, seed = 1), kd_matrix)
  kd_cluster(x, k = 20, method = "kmeans", options = list(n_init = 100000), map = FALSE, ...)
}
interrupt_later <- function(seconds) {
  system2("sh", c("-c", shQuote(sprintf("sleep %g; kill -INT %d", seconds, Sys.getpid()))), wait = FALSE)
}

test_that("an interrupt stops a fit within a second, with the best result so far", {
  skip_on_os("windows")
  skip_on_cran()
  interrupt_later(1.5)
  caught <- tryCatch({ long_fit(threads = 1); NULL }, interrupt = function(c) c)
  expect_s3_class(caught, "interrupt")
  skip_if(is.null(caught$result), "interrupted before the first result")
  expect_identical(lengths(labels(caught$result)), c(task1 = 3000L, task2 = 3000L))
  expect_identical(caught$result$stop, "cancelled")
})
test_that("the package works after an interrupt", {
  expect_s3_class(kd_cluster(two(), k = 3, method = "kmeans", map = FALSE), "kindred")
})
