test_that("k can be one number, one for each, by name, a range, or estimated", {
  expect_identical(kd_cluster(two(), k = 3, method = "kmeans", map = FALSE)$k, c(3L, 3L))
  expect_identical(kd_cluster(two(), k = c(3, 2), method = "kmeans", map = FALSE)$k, c(3L, 2L))
  expect_identical(kd_cluster(two(), k = c(b = 2, a = 3), method = "kmeans", map = FALSE)$k, c(3L, 2L))
  expect_identical(kd_cluster(two(), k = "auto", method = "auto", map = FALSE)$k, c(3L, 3L))
  expect_identical(kd_cluster(two(), map = FALSE)$k, c(3L, 3L))
})
test_that("a range gives the labels at each level", {
  result <- kd_cluster(two(), k = "2-4", method = "kmeans", map = FALSE)
  expect_named(result$levels, c("2", "3", "4"))
  expect_setequal(unique(result$levels[["2"]]$a), 0:1)
  expect_true(all(c("cluster_2", "cluster_4") %in% names(as.data.frame(result))))
})
test_that("wrong numbers of clusters are refused", {
  for (k in list(0, -1, 2.5, NA, "many", "5-3", TRUE, Inf)) expect_kindred_error(kd_cluster(two(), k = k, method = "kmeans"), "^k is", 10L)
  expect_kindred_error(kd_cluster(two(), k = c(1, 2, 3), method = "kmeans"), "k has length 3, but the number of data sets is 2")
  expect_kindred_error(kd_cluster(two(), k = c(a = 2, c = 3), method = "kmeans"), "the data sets are a, b")
})
test_that("more clusters than samples are refused", {
  expect_kindred_error(kd_cluster(two(), k = 50, method = "kmeans"), "50")
})
test_that("the same seed gives the same labels on any number of threads", {
  one <- kd_cluster(two(), k = 3, seed = 7, threads = 1, map = FALSE)
  expect_identical(labels(one), labels(kd_cluster(two(), k = 3, seed = 7, threads = 2, map = FALSE)))
})
test_that("the random numbers of R are neither used nor changed", {
  set.seed(5)
  before <- .Random.seed
  kd_cluster(two(), k = 3)
  expect_identical(.Random.seed, before)
})
test_that("nothing is printed", {
  expect_silent(kd_cluster(two(), k = 3))
})
test_that("options of the method are passed on", {
  expect_warning(kd_cluster(two(), k = 3, method = "kmeans", options = list(max_iter = 1, n_init = 1), map = FALSE), "max_iter", class = "kindred_warning")
  expect_s3_class(kd_cluster(two(), k = 3, method = "mbc", options = list(lambda = 0.5), map = FALSE), "kindred")
  expect_s3_class(kd_cluster(two(), k = 3, method = "kmeans", options = list(spherical = TRUE, start = "random"), map = FALSE), "kindred")
})
test_that("preprocessing can be chosen", {
  result <- kd_cluster(two(), k = 3, method = "kmeans", scale = "standard", norm = "none", map = FALSE)
  expect_match(summary(result)$preprocessing, "standard")
  expect_match(summary(kd_cluster(two(), k = 3, method = "kmeans", top_features = 2, top_by = "variance", map = FALSE))$preprocessing, "2")
})
test_that("initial labels are used", {
  init <- list(rep(0:2, length.out = 40), rep(0:2, length.out = 30))
  result <- kd_cluster(two(), k = 3, method = "kmeans", init = init, map = FALSE)
  expect_identical(labels(result)$a, as.integer(init[[1]]))
  expect_kindred_error(kd_cluster(two(), k = 3, method = "kmeans", init = list(1, 2)), "init has 1, 1 labels")
})
test_that("pooled clusters all samples together", {
  expect_s3_class(kd_cluster(two(), k = 3, method = "kmeans", pooled = TRUE, map = FALSE), "kindred")
})
test_that("quality scores are in the summary", {
  result <- summary(kd_cluster(two(), k = 3, method = "kmeans", quality = TRUE, resamples = 0, map = FALSE))
  expect_gt(min(result$quality$silhouette), 0.5)
  expect_true("ilisi" %in% names(result$mixing))
  expect_output(print(result), "silhouette")
})
test_that("features that distinguish clusters are in the summary", {
  features <- summary(kd_cluster(two(), k = 3, method = "kmeans", map = FALSE))$features
  expect_true(all(c("a", "b") %in% features$feature))
})
test_that("as.data.frame has one row per sample", {
  frame <- as.data.frame(kd_cluster(two(), k = 3, method = "kmeans", map = FALSE))
  expect_named(frame, c("id", "dataset", "cluster", "confidence", "second", "row"))
  expect_identical(nrow(frame), 70L)
  expect_identical(frame$id[41], "2_1")
  expect_true(all(frame$confidence >= 0 & frame$confidence <= 1))
})
test_that("print shows sizes", {
  expect_output(print(kd_cluster(two(), k = 3, method = "kmeans", map = FALSE)), "Clustering by kmeans: 2 data sets, 70 samples")
})
test_that("plot draws the map", {
  result <- kd_cluster(two(), k = 3, method = "kmeans")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(nrow(plot(result)), 70L)
  expect_identical(nrow(plot(result, by = "dataset")), 70L)
  expect_kindred_error(plot(kd_cluster(two(), k = 3, method = "kmeans", map = FALSE)), "map = TRUE")
})
test_that("arrays have R's order", {
  result <- kd_cluster(two(), k = 3, method = "kmeans", preprocess = "none", map = FALSE)
  centres <- kd_array(result, "centres", "a")
  expect_identical(dim(centres), c(3L, 3L))
  means <- t(vapply(0:2, function(z) colMeans(two()$a[labels(result)$a == z, ]), c(a = 0, b = 0, c = 0)))
  expect_equal(centres, unname(means))
  expect_kindred_error(kd_array(result, "nothing"), "there is no array 'nothing'")
})
test_that("features_from learns features first", {
  expect_s3_class(quiet(kd_cluster(topics(), k = 3, method = "kmeans", features_from = "msda", feature_options = list(layers = 1), map = FALSE)), "kindred")
})
test_that("a time limit stops with a valid result", {
  result <- quiet(kd_cluster(two(), k = 3, method = "auto", time_limit = 1e-4, map = FALSE))
  expect_identical(lengths(labels(result)), c(a = 40L, b = 30L))
})
test_that("a memory limit refuses large jobs", {
  expect_kindred_error(kd_cluster(two(), k = 3, max_memory = 10), "memory", 40L)
})
test_that("progress calls a function and stops if it returns TRUE", {
  kinds <- character()
  kd_cluster(two(), k = 3, map = FALSE, progress = function(event) { kinds <<- c(kinds, event$kind); FALSE })
  expect_true("start" %in% kinds)
  stopped <- quiet(kd_cluster(two(), k = 3, map = FALSE, progress = function(event) TRUE))
  expect_s3_class(stopped, "kindred")
})
test_that("an error in the progress function is raised", {
  expect_error(kd_cluster(two(), k = 3, map = FALSE, progress = function(event) stop("my own error")), "my own error")
})
test_that("results survive saveRDS except for the model", {
  path <- tempfile()
  fit <- kd_cluster(two(), k = 3, method = "kmeans")
  saveRDS(fit, path)
  copy <- readRDS(path)
  expect_identical(labels(copy), labels(fit))
  expect_output(print(copy), "Clustering")
  expect_output(print(summary(copy)), "Samples")
  expect_kindred_error(predict(copy, two()$a, task = "a"), "kd_save")
})
test_that("reports and JSON are written", {
  fit <- kd_cluster(two(), k = 3, method = "kmeans")
  page <- tempfile(fileext = ".html")
  kd_report(fit, page)
  expect_match(readLines(page, n = 1, warn = FALSE), "<!doctype html>", ignore.case = TRUE)
  expect_kindred_error(kd_report(fit, page), "exists.*force = TRUE", 12L)
  kd_report(fit, page, force = TRUE)
  json <- tempfile(fileext = ".json")
  kd_json(fit, json)
  expect_match(kd_json(fit), "\"method\": *\"kmeans\"")
  second <- tempfile(fileext = ".html")
  kd_report(json, second)
  expect_gt(file.size(second), 1000)
})
