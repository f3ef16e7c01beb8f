source <- blobs()$a
target <- blobs()$b

test_that("classes are transferred, as a factor with the levels of the source", {
  y <- factor(source$y, levels = c("z", "y", "x", "unused"))
  fit <- kd_transfer(source$x, y, target$x, method = "svm", map = FALSE)
  expect_s3_class(labels(fit), "factor")
  expect_identical(levels(labels(fit)), c("z", "y", "x", "unused"))
  expect_identical(as.character(labels(fit)), as.character(target$y))
})
test_that("auto transfers with probabilities", {
  fit <- quiet(kd_transfer(source$x, source$y, target$x, probabilities = TRUE, map = FALSE))
  p <- predict(fit, type = "prob")
  expect_identical(dim(p), c(30L, 3L))
  expect_equal(unname(rowSums(p)), rep(1, 30), tolerance = 1e-9)
  expect_identical(colnames(p)[max.col(p)], as.character(labels(fit)))
})
test_that("labels may be texts or numbers, with NA for unknown", {
  y <- as.character(source$y)
  y[1:4] <- NA
  fit <- quiet(kd_transfer(source$x, y, target$x, method = "logreg", map = FALSE))
  expect_identical(as.character(labels(fit)), as.character(target$y))
  numbers <- quiet(kd_transfer(source$x, as.integer(source$y) * 10L, target$x, method = "svm", map = FALSE))
  expect_identical(levels(labels(numbers)), c("10", "20", "30"))
})
test_that("label_column of a data frame gives the classes and keeps their levels", {
  frame <- data.frame(source$x, kind = factor(source$y, levels = c("z", "x", "y")))
  fit <- kd_transfer(frame, target = as.data.frame(target$x), label_column = "kind", method = "svm", map = FALSE)
  expect_identical(levels(labels(fit)), c("z", "x", "y"))
  expect_identical(as.character(labels(fit)), as.character(target$y))
})
test_that("several sources and targets are lists", {
  fit <- kd_transfer(list(p = source$x, q = target$x), list(source$y, target$y), list(r = target$x, s = source$x), method = "svm", map = FALSE)
  expect_named(labels(fit), c("r", "s"))
  expect_identical(as.character(labels(fit)$s), as.character(source$y))
  expect_identical(as.data.frame(fit)$dataset[31], factor("s", levels = c("r", "s")))
})
test_that("bridges are used by methods that take them", {
  fit <- quiet(kd_transfer(abs(source$x), source$y, abs(target$x), method = "ttl", bridges = abs(two(shift = 0.1)$b), map = FALSE))
  expect_length(labels(fit), 30)
})
test_that("new samples are predicted with the classes of the source", {
  fit <- kd_transfer(source$x, source$y, target$x, method = "svm", map = FALSE)
  found <- predict(fit, source$x[1:6, ], task = "target")
  expect_identical(as.character(found), as.character(source$y[1:6]))
  expect_named(found, rownames(source$x)[1:6])
})
test_that("wrong labels are refused", {
  expect_kindred_error(kd_transfer(source$x, source$y[-1], target$x), "number of samples is 40, but labels has length 39")
  expect_kindred_error(kd_transfer(source$x, NULL, target$x), "source has no classes")
  expect_kindred_error(kd_transfer(list(source$x, source$x), source$y, target$x), "labels has length 1, but the number of sources is 2")
  expect_kindred_error(kd_transfer(source$x, source$y), "target is missing")
})
test_that("clustering methods are not transfer methods", {
  expect_kindred_error(kd_transfer(source$x, source$y, target$x, method = "kmeans"), "not a method of the family transfer", 11L)
})
test_that("probabilities are refused for new samples and without a request", {
  fit <- kd_transfer(source$x, source$y, target$x, method = "svm", map = FALSE)
  expect_kindred_error(predict(fit, type = "prob"), "probabilities = TRUE")
  expect_kindred_error(predict(fit, target$x, type = "prob"), "leave out newdata", 60L)
})
