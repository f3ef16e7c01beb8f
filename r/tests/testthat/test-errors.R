cluster <- function(x, ...) kd_cluster(x, k = 2, method = "kmeans", map = FALSE, ...)

test_that("errors are conditions with a class, a status and a kind", {
  error <- error_of(cluster(two(), options = list(max_itr = 3)))
  expect_s3_class(error, c("kindred_error_option", "kindred_error", "error"))
  expect_identical(error$status, 11L)
  expect_identical(error$kind, "option")
  expect_match(conditionMessage(error), "did you mean max_iter")
})
test_that("unknown methods are refused with the nearest names", {
  expect_kindred_error(kd_cluster(two(), k = 2, method = "kmean"), "did you mean 'kmeans'", 11L)
  expect_kindred_error(kd_cluster(two(), k = 2, method = "svm"), "not a method of the family cluster", 11L)
  expect_kindred_error(kd_cluster(two(), k = 2, method = NA), "method is NA", 11L)
})
test_that("unknown arguments are refused with the nearest names", {
  expect_kindred_error(cluster(two(), wieght = "tfidf"), "unknown argument 'wieght'; did you mean 'weight'", 10L)
  expect_kindred_error(kd_cluster(two(), 2, "kmeans", list(), 7), "too many arguments without a name .1.")
})
test_that("wrong values of options are refused with the allowed ones", {
  expect_kindred_error(cluster(two(), options = list(max_iter = -1)), "max_iter", 11L)
  expect_kindred_error(cluster(two(), options = list(start = "middle")), "kmeans\\+\\+", 11L)
  expect_kindred_error(cluster(two(), options = list(5)), "without a name", 11L)
  expect_kindred_error(cluster(two(), options = list(max_iter = 5, tol = NA)), "tol is NA", 11L)
  expect_kindred_error(cluster(two(), weight = "tf"), "weight: 'tf' is not valid; use one of: .*tfidf", 11L)
})
test_that("NA, NaN and infinite values of matrices are refused with their place", {
  for (value in c(NA, NaN, Inf)) {
    x <- two()
    x$b[4, 2] <- value
    expect_kindred_error(cluster(x), "b: row 4\\b.*, column ('b'|2)", 20L)
  }
  whole <- matrix(c(1L, NA, 3L, 4L), 2)
  expect_kindred_error(cluster(whole), "row 2, column 'V1'", 20L)
})
test_that("NA in a sparse matrix is refused", {
  skip_if_not_installed("Matrix")
  x <- kd_matrix(topics()[[1]])
  x@x[3] <- NA
  expect_kindred_error(cluster(x), "sparse matrix with missing values", 20L)
})
test_that("matrices of texts are refused", {
  expect_kindred_error(cluster(matrix(letters[1:6], 3)), "type character: numbers are needed", 20L)
  expect_kindred_error(cluster(matrix(as.complex(1:6), 3)), "type complex", 20L)
})
test_that("data without rows or columns are refused", {
  expect_kindred_error(cluster(matrix(0, 0, 3)), "0 samples and 3 features", 20L)
  expect_kindred_error(cluster(matrix(0, 3, 0)), "3 samples and 0 features", 20L)
  expect_kindred_error(cluster(data.frame()), "0")
  expect_kindred_error(cluster(list()), "empty list")
})
test_that("one row is refused for two clusters and accepted for one", {
  expect_kindred_error(cluster(matrix(1:3 + 0.5, 1)), ".")
  expect_identical(labels(kd_cluster(matrix(1:3 + 0.5, 1), k = 1, method = "kmeans", map = FALSE)), 0L)
})
test_that("data sets of different shapes are refused if columns have no names", {
  x <- lapply(two(), unname)
  expect_kindred_error(cluster(list(x$a, x$b[, 1:2])), "task1 has 3 features and data set task2 has 2", 20L)
})
test_that("duplicate names are refused", {
  expect_kindred_error(cluster(list(a = two()$a, a = two()$b)), "called 'a'")
  path <- write_csv(two()$a, tempfile(fileext = ".csv"))
  expect_kindred_error(cluster(c(path, path)), "two data sets are called")
})
test_that("duplicate column names are refused", {
  x <- two()
  colnames(x$a)[2] <- "a"
  expect_kindred_error(cluster(x), "a", 20L)
})
test_that("objects of other types are refused", {
  expect_kindred_error(cluster(1:10), "use a matrix")
  expect_kindred_error(cluster(NULL), ".")
  expect_kindred_error(cluster(list(two()$a, mean)), "element 2 of x is \"function\"")
  expect_kindred_error(cluster(array(0, c(2, 2, 2))), "use a matrix")
})
test_that("files that do not exist are refused", {
  expect_kindred_error(cluster("no such file.csv"), "no such file.csv", 22L)
  expect_kindred_error(kd_read("no such file.mtx"), "no such file.mtx", 22L)
})
test_that("negative values are refused by methods that need counts", {
  expect_kindred_error(kd_cluster(lapply(two(), function(x) x - 9), k = 3, method = "bregman", options = list(divergence = "kl"), preprocess = "none"), "needs values >= 0", 20L)
})
test_that("seeds, threads and limits must be numbers", {
  expect_kindred_error(cluster(two(), seed = -1), "^seed")
  expect_kindred_error(cluster(two(), seed = 1.5), "^seed")
  expect_kindred_error(cluster(two(), seed = "x"), "^seed")
  expect_kindred_error(cluster(two(), threads = "all"), "^threads")
  expect_kindred_error(cluster(two(), time_limit = NA), "^time_limit")
  expect_kindred_error(kd_cluster(two(), k = 2, map = NA), "^map")
})
test_that("messages use the notation of R", {
  expect_identical(kindred:::in_r("use --missing mean or --force"), "use missing = \"mean\" or force = TRUE")
  expect_identical(kindred:::in_r("specify it with --decimal"), "specify it with decimal")
  expect_identical(kindred:::in_r("--label-column 'kind' is empty"), "label_column = \"kind\" is empty")
  expect_identical(kindred:::in_r("use --rename 'a=b' to match"), "use rename = c(\"a\" = \"b\") to match")
  expect_identical(kindred:::in_r("use --rename OLD=NEW, or -k 3-8"), "use rename = c(\"OLD\" = \"NEW\"), or k = \"3-8\"")
  expect_identical(kindred:::in_r("use -k 3,2 to separate it"), "use k = c(3, 2) to separate it")
  expect_identical(kindred:::in_r("-k 9: use --na 'inf' or -k auto"), "k = 9: use na = \"inf\" or k = \"auto\"")
})
test_that("every message of the library names arguments of R", {
  sources <- list.files("../../../src", "[.]c$", recursive = TRUE, full.names = TRUE)
  skip_if(!length(sources), "the sources of the library are not here")
  lines <- unlist(lapply(sources[!grepl("/comm/|/cuda/", sources)], function(path) {
    lines <- readLines(path)
    lines[seq_along(lines) > max(0, grep("^enum . COUNT = ", lines))] # jobs/options.c begins with the help of the program
  }))
  texts <- unlist(regmatches(lines, gregexpr("\"(\\\\.|[^\"\\\\])*\"", lines)))
  texts <- grep("(?<![\\w-])(--[a-z]|-k(?![\\w-]))", gsub("^\"|\"$", "", texts), perl = TRUE, value = TRUE)
  texts <- grep("^--(to|format)$", texts, invert = TRUE, value = TRUE) # inserted into a message
  expect_gt(length(texts), 50)
  known <- c("kd_into()", "options(kindred.max_unpacked", "ngrams", "tokens", unlist(lapply(c(getNamespaceExports("kindred"), "kd_cluster.default", "predict.kindred"), function(name)
    names(formals(get(name, asNamespace("kindred")))))), "device") # ngrams and tokens are elements of texts; R never asks for a device
  for (text in texts) {
    spelt <- kindred:::in_r(text)
    expect_false(grepl("(?<![\\w-])(--[a-z]|-k(?![\\w-]))", spelt, perl = TRUE), info = spelt)
    names <- regmatches(text, gregexpr("(?<![\\w-])--[a-z][a-z-]*", text, perl = TRUE))[[1]]
    flags <- kindred:::flag_options
    for (name in setdiff(substring(names, 3), names(flags))) expect_true(gsub("-", "_", name) %in% known, info = text)
  }
  for (option in kindred:::flag_options) expect_true(sub(" .*", "", option) %in% known, info = option)
})
test_that("the help of methods uses the notation of R", {
  expect_match(kd_methods("auto")$help, "k = \"auto\"", fixed = TRUE, all = FALSE)
  expect_kindred_error(kd_cluster(mtcars, method = "kmeans"), "needs k, the number of clusters")
})
test_that("columns need a table", {
  expect_kindred_error(cluster(two(), columns = "a"), "use a data frame or a path with columns")
})
test_that("an error leaves the package usable", {
  for (i in 1:20) error_of(cluster(two(), options = list(max_itr = i)))
  expect_s3_class(cluster(two()), "kindred")
})
