test_that("relate measures pairs", {
  found <- kd_relate(c(two(), list(far = two()$a + 100)))
  expect_identical(nrow(found$pairs), 3L)
  expect_identical(found$datasets$name, c("a", "b", "far"))
  near <- found$pairs$a_distance[found$pairs$from == "a" & found$pairs$to == "b"]
  far <- found$pairs$a_distance[found$pairs$from == "a" & found$pairs$to == "far"]
  expect_lt(near, far)
  expect_kindred_error(kd_relate(two()$a), "at least two")
})
test_that("the advice of relate uses the notation of R", {
  near <- kd_relate(kd_generate("blobs", k = 3, samples = 60, shift = 0, rotation = 0, seed = 1))$datasets$advice
  expect_match(near, "with and without options = list(transfer = FALSE)", fixed = TRUE)
})
test_that("embed gives two coordinates per sample, equal for equal seeds", {
  xy <- kd_embed(two(), sweeps = 20)
  expect_identical(dim(xy$a), c(40L, 2L))
  expect_identical(rownames(xy$b), rownames(two()$b))
  expect_identical(kd_embed(two(), sweeps = 20), xy)
  expect_identical(dim(kd_embed(two()$a, layout = "directions")), c(40L, 2L))
  expect_kindred_error(kd_embed(two(), layout = "round"), "\"forces\", \"directions\"", 11L)
})
test_that("evaluate agrees with known scores", {
  expect_equal(kd_evaluate(c(0, 0, 1, 1), c("a", "a", "b", "b"))[["nmi"]], 1)
  expect_equal(kd_evaluate(c(0, 0, 1, 1), c(0, 1, 0, 1))[["ari"]], -0.5)
  expect_kindred_error(kd_evaluate(1:3, 1:2), "length")
  expect_kindred_error(kd_evaluate(c(1, NA), 1:2), "missing")
})
test_that("methods are listed with their options", {
  methods <- kd_methods()
  expect_true(all(c("auto", "kmeans", "mbc", "svm", "auto-transfer", "msda") %in% methods$method))
  expect_true("lambda" %in% kd_methods("mbc")$name)
  expect_true(all(kd_methods(family = "transfer")$family == "transfer"))
  expect_kindred_error(kd_methods(family = "regression"), "family")
})
test_that("generated data are reproducible", {
  expect_identical(kd_matrix(kd_generate("blobs", samples = 20, seed = 3)[[1]]), kd_matrix(kd_generate("blobs", samples = 20, seed = 3)[[1]]))
  expect_identical(vapply(kd_generate("blobs", samples = c(20, 30)), function(s) dim(s)[1], 0L), c(task1 = 20L, task2 = 30L))
  expect_kindred_error(kd_generate("cubes"), "\"blobs\", \"topics\"")
  expect_kindred_error(kd_generate("blobs", sampels = 3), "did you mean 'samples'")
})
test_that("the citation has the version and a year, without a warning", {
  expect_no_warning(entry <- citation("kindred"))
  expect_identical(entry$note, paste("R package version", utils::packageVersion("kindred")))
  expect_match(entry$year, "^20[0-9]{2}$")
})
test_that("the build describes itself", {
  expect_match(kd_build(), "kindred: [0-9.]+(-dev[^\n]*)?\ncompiler: .*blas: ")
})
