fit <- function(x, ...) kd_cluster(x, k = 3, method = "kmeans", map = FALSE, ...)
reference <- labels(fit(two()))

test_that("matrices give one label per row and keep names", {
  result <- fit(two())
  expect_named(labels(result), c("a", "b"))
  expect_identical(lengths(labels(result)), c(a = 40L, b = 30L))
  expect_identical(result$ids$b[1:2], c("2_1", "2_2"))
  expect_setequal(unique(labels(result)$a), 0:2)
})
test_that("labels find the groups, so that rows and columns are not mixed up", {
  result <- labels(fit(two()))
  expect_equal(kd_evaluate(result$a, blobs()$a$y)[["acc"]], 1)
  expect_equal(kd_evaluate(result$b, blobs()$b$y)[["acc"]], 1)
})
test_that("integer and logical matrices are used", {
  whole <- lapply(two(), function(x) { x[] <- round(x * 10); x })
  as_integer <- lapply(whole, function(x) { storage.mode(x) <- "integer"; x })
  expect_identical(labels(fit(whole)), labels(fit(as_integer)))
  flags <- lapply(two(), function(x) x > 4)
  numbers <- lapply(flags, function(x) x + 0)
  expect_identical(labels(quiet(fit(flags))), labels(quiet(fit(numbers))))
})
test_that("dgCMatrix, dgRMatrix, dgTMatrix and dense matrices agree", {
  skip_if_not_installed("Matrix")
  dense <- lapply(two(), function(x) { x[abs(x) < 0.5] <- 0; x })
  expected <- labels(fit(dense))
  columns <- lapply(dense, function(x) methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix"))
  expect_s4_class(columns$a, "dgCMatrix")
  expect_identical(labels(fit(columns)), expected)
  expect_identical(labels(fit(lapply(columns, methods::as, "RsparseMatrix"))), expected)
  expect_identical(labels(fit(lapply(columns, methods::as, "TsparseMatrix"))), expected)
})
test_that("a sparse matrix of logical values or a pattern is used as zeros and ones", {
  skip_if_not_installed("Matrix")
  x <- kd_matrix(topics()[[1]]) > 0
  ones <- x * 1
  expected <- labels(quiet(fit(list(ones))))
  expect_identical(labels(quiet(fit(list(x)))), expected)
  expect_identical(labels(quiet(fit(list(methods::as(x, "nMatrix"))))), expected)
})
test_that("a symmetric sparse matrix is expanded", {
  skip_if_not_installed("Matrix")
  x <- Matrix::crossprod(Matrix::Matrix(two()$a, sparse = TRUE)[1:20, ])
  expect_equal(kd_embed(x, layout = "directions"), kd_embed(as.matrix(x), layout = "directions"))
})
test_that("sparse values survive the transpose", {
  skip_if_not_installed("Matrix")
  x <- Matrix::sparseMatrix(i = c(1, 3, 3, 2), j = c(1, 1, 4, 3), x = c(1.5, 2, -3, 4), dims = c(5, 4), dimnames = list(paste0("r", 1:5), letters[1:4]))
  session <- kindred:::session_open()
  set <- kindred:::new_data(kindred:::matrix_set(session, x, "x"))
  expect_equal(as.matrix(kd_matrix(set)), as.matrix(x))
  across <- kindred:::new_data(kindred:::matrix_set(session, x, "x", transposed = TRUE))
  expect_equal(as.matrix(kd_matrix(across)), t(as.matrix(x)))
  rows <- kindred:::new_data(kindred:::matrix_set(session, methods::as(x, "RsparseMatrix"), "x", transposed = TRUE))
  expect_equal(as.matrix(kd_matrix(rows)), t(as.matrix(x)))
  dense <- kindred:::new_data(kindred:::matrix_set(session, as.matrix(x), "x", transposed = TRUE))
  expect_equal(kd_matrix(dense), t(as.matrix(x)))
  kindred:::session_close(session)
})
test_that("the caller's matrices are not changed", {
  data <- two()
  copy <- lapply(data, function(x) x + 0)
  kd_cluster(data, k = 3, method = "kmeans", scale = "standard", map = FALSE)
  expect_identical(data, copy)
  skip_if_not_installed("Matrix")
  sparse <- kd_matrix(topics()[[1]])
  values <- sparse@x + 0
  quiet(kd_cluster(sparse, k = 3, method = "kmeans", weight = "tfidf", norm = "l2", map = FALSE))
  expect_identical(sparse@x, values)
})
test_that("data frames of numbers agree with matrices", {
  expect_identical(labels(fit(lapply(two(), as.data.frame))), reference)
})
test_that("missing applies to matrices as to data frames", {
  x <- two()$a
  x[c(2, 9), 2] <- NA
  for (how in c("mean", "zero", "drop-row", "drop-column"))
    expect_identical(labels(kd_cluster(x, k = 3, method = "kmeans", missing = how, map = FALSE)),
                     labels(kd_cluster(as.data.frame(x), k = 3, method = "kmeans", missing = how, map = FALSE)))
  expect_length(labels(kd_cluster(x, k = 3, method = "kmeans", missing = "drop-row", map = FALSE)), 38)
  expect_kindred_error(kd_cluster(x, k = 3, method = "kmeans"), "use missing = \"zero\"", 20L)
  whole <- matrix(c(NA, rep(c(9L, 1L), 11), 3L), 12, dimnames = list(rep("same", 12), NULL)) # whole numbers, which are no categories
  fit <- kd_cluster(list(whole, whole[1:9, ]), k = 2, method = "kmeans", missing = "mean", map = FALSE)
  expect_identical(lengths(labels(fit)), c(task1 = 12L, task2 = 9L))
  expect_length(predict(fit, whole, task = 1), 12)
  expect_identical(dim(kd_embed(x, missing = "mean", sweeps = 5)), c(40L, 2L))
  skip_if_not_installed("Matrix")
  expect_length(labels(kd_cluster(methods::as(x, "denseMatrix"), k = 3, missing = "mean", map = FALSE)), 40)
})
test_that("CSV files agree with matrices", {
  paths <- vapply(names(two()), function(name) write_csv(two()[[name]], file.path(tempdir(), paste0(name, ".csv"))), "")
  expect_identical(labels(fit(unname(paths))), reference)
  expect_identical(labels(fit(as.list(paths))), reference)
})
test_that("one table gives a vector", {
  expect_type(labels(fit(two()$a)), "integer")
  expect_length(labels(fit(two()$a)), 40)
  expect_named(labels(fit(list(two()$a))), "task")
})
test_that("unnamed data sets are numbered", {
  expect_named(labels(fit(unname(two()))), c("task1", "task2"))
})
test_that("kd_read returns values, names and classes", {
  path <- tempfile(fileext = ".csv")
  writeLines(c("id,height,kind", "p,1.5,u", "q,2.5,v"), path)
  set <- kd_read(path, name = "plants", label_column = "kind", id_column = "id")
  expect_identical(dim(set), c(2L, 1L))
  expect_equal(kd_matrix(set), matrix(c(1.5, 2.5), 2, dimnames = list(c("p", "q"), "height")))
  expect_identical(labels(set), factor(c("u", "v")))
  expect_identical(kd_columns(set)$kind, c("id", "number", "label"))
  expect_output(print(set), "'plants': 2 samples, 1 feature$")
})
test_that("kd_read splits a table by a column and reads several files", {
  path <- tempfile(fileext = ".csv")
  writeLines(c("x,y,region", "1,2,n", "2,3,s", "3,4,n"), path)
  sets <- kd_read(path, task_column = "region")
  expect_named(sets, c("n", "s"))
  expect_identical(dim(sets$n), c(2L, 2L))
  expect_named(kd_read(c(one = path, two = path), columns = c("x", "y")), c("one", "two"))
})
test_that("texts share a vocabulary", {
  texts <- list(p = rep(c("red apple sweet fruit", "fast car engine road"), 10), q = rep(c("sweet fruit apple pie", "car road engine wheel"), 8))
  result <- quiet(kd_cluster(texts, k = 2, method = "kmeans", texts = list(min_df = 1), map = FALSE))
  expect_identical(lengths(labels(result)), c(p = 20L, q = 16L))
  expect_equal(kd_evaluate(labels(result)$p, rep(1:2, 10))[["acc"]], 1)
  expect_equal(kd_evaluate(labels(result)$q, rep(1:2, 8))[["acc"]], 1)
})
test_that("short texts are compared by word vectors", {
  vectors <- tempfile(fileext = ".txt")
  writeLines(c("apple 1 0", "pear 1 .1", "plum .9 0", "car 0 1", "bus .1 1", "van 0 .9"), vectors)
  texts <- rep(c("apple pear", "car", "plum", "bus van", "pear", "van"), 5)
  result <- quiet(kd_cluster(list(p = texts), k = 2, method = "kmeans", vectors = vectors, map = FALSE))
  expect_equal(unname(labels(result)[[1]]), rep(c(0L, 1L, 0L, 1L, 0L, 1L), 5), ignore_attr = TRUE)
  expect_error(kd_cluster(list(p = texts), k = 2, vectors = "absent.txt"), "absent.txt: cannot open")
})

test_that("texts with quotes, backslashes, tabs and umlauts are read", {
  texts <- c("say \"stop\" now", "path C:\\dir\tend", "Gr\u00fc\u00dfe aus K\u00f6ln", "two\nlines")
  path <- kindred:::write_texts(texts)
  set <- kd_read(path, text_column = "text", texts = list(min_df = 1))
  expect_identical(dim(set)[1], 4L)
  expect_true("gr\u00fc\u00dfe" %in% colnames(kd_matrix(set)) || "gr\u00fcsse" %in% colnames(kd_matrix(set)))
})
test_that("folders of texts have classes", {
  folder <- tempfile()
  for (class in c("fruit", "car")) {
    dir.create(file.path(folder, class), recursive = TRUE)
    for (i in 1:6) writeLines(if (class == "fruit") "apple sweet tree" else "engine road wheel", file.path(folder, class, paste0(i, ".txt")))
  }
  set <- kd_read(folder, texts = list(min_df = 1))
  expect_setequal(levels(labels(set)), c("fruit", "car"))
  expect_identical(dim(set)[1], 12L)
})
test_that("generated data are sparse where they should be", {
  skip_if_not_installed("Matrix")
  expect_s4_class(kd_matrix(topics()[[1]]), "dgCMatrix")
  expect_identical(dim(topics()[[1]]), c(40L, 120L))
})
