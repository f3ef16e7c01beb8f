shop <- function(n = 30, first = 0) {
  i <- seq_len(n) + first
  data.frame(age = 20 + (i * 7) %% 40 + 0.5, visits = (i * 3) %% 11, plan = factor(c("basic", "pro", "team")[i %% 3 + 1], levels = c("team", "pro", "basic", "unused")),
             member = i %% 2 == 0, since = as.Date("2020-01-01") + i, city = c("Bern", "Kiel")[i %% 2 + 1])
}
read_frame <- function(frame, ...) kd_read(frame, ...)
csv_of <- function(frame, ...) {
  path <- tempfile(fileext = ".csv")
  utils::write.csv(frame, path, row.names = FALSE, na = "")
  kd_read(path, ...)
}

test_that("factors, dates, logical values and texts follow the rules for tables", {
  columns <- kd_columns(read_frame(shop()))
  expect_identical(columns$kind, c("number", "number", "category", "category", "date", "category"))
  expect_identical(colnames(kd_matrix(read_frame(shop()))), colnames(kd_matrix(csv_of(shop()))))
})
test_that("a data frame has the values of its CSV file", {
  expect_equal(kd_matrix(read_frame(shop())), kd_matrix(csv_of(shop())))
})
test_that("a data frame has the labels of its CSV file", {
  path <- tempfile(c("p", "q"), fileext = ".csv")
  utils::write.csv(shop(), path[1], row.names = FALSE)
  utils::write.csv(shop(25, 7), path[2], row.names = FALSE)
  frames <- quiet(kd_cluster(list(p = shop(), q = shop(25, 7)), k = 3, map = FALSE))
  expect_identical(labels(frames), labels(quiet(kd_cluster(list(p = path[1], q = path[2]), k = 3, map = FALSE))))
})
test_that("missing values are kept by methods that skip them", {
  frame <- shop()
  frame$age[3] <- NA
  frame$plan[5] <- NA
  frame$since[6] <- NA
  result <- kd_cluster(frame, k = 3, method = "auto", map = FALSE)
  expect_length(labels(result), 30)
  expect_equal(sum(kd_columns(read_frame(frame, missing = "keep"))$missing), 3)
  expect_equal(nrow(kd_relate(list(a = frame, b = shop(25, 7)))$pairs), 1)
  expect_equal(dim(kd_embed(frame, sweeps = 20)), c(30L, 2L))
})
test_that("other methods refuse missing values and name the place", {
  frame <- shop()
  frame$age[3] <- NA
  expect_kindred_error(kd_cluster(frame, k = 3, method = "kmeans"), "row 3, column 'age'.*missing = \"", 20L)
})
test_that("missing = \"mean\" fills and \"drop-row\" drops", {
  frame <- shop()
  frame$age[3] <- NA
  expect_length(labels(kd_cluster(frame, k = 3, method = "kmeans", missing = "mean", map = FALSE)), 30)
  dropped <- quiet(kd_cluster(frame, k = 3, method = "kmeans", missing = "drop-row", map = FALSE))
  expect_length(labels(dropped), 29)
  expect_identical(as.data.frame(dropped)$row, c(1:2, 4:30))
})
test_that("row names are ids, and numbered rows are not", {
  frame <- data.frame(a = c(1, 2, 8, 9) + 0.5, b = c("u", "v", "u", "v"), row.names = c("w", "x", "y", "z"))
  expect_identical(kd_cluster(frame, k = 2, map = FALSE)$ids[[1]], c("w", "x", "y", "z"))
  expect_null(kd_cluster(shop(), k = 2, map = FALSE)$ids[[1]])
})
test_that("an id column gives ids", {
  frame <- cbind(shop(), who = paste("person", 1:30))
  expect_identical(kd_cluster(frame, k = 2, id_column = "who", map = FALSE)$ids[[1]], frame$who)
})
test_that("columns select, set kinds and skip", {
  expect_identical(colnames(kd_matrix(read_frame(shop(), columns = c("age", "visits")))), c("age", "visits"))
  skipped <- read_frame(shop(), columns = list(city = NULL, visits = "category"))
  expect_false(any(grepl("city", colnames(kd_matrix(skipped)))))
  expect_true("visits=3" %in% colnames(kd_matrix(skipped)))
})
test_that("a list of columns skips with NA too", {
  expect_identical(kindred:::columns_text(list(code = "category", notes = NA)), "\"code\":category,-\"notes\"")
})
test_that("columns that no table has are refused with the nearest names", {
  expect_kindred_error(kd_cluster(list(shop(), shop(20)), k = 2, columns = c("age", "visit")), "visit.*did you mean 'visits'")
})
test_that("rename changes names of columns", {
  expect_identical(colnames(kd_matrix(read_frame(shop(), columns = c("years", "visits"), rename = c(age = "years")))), c("years", "visits"))
})
test_that("task_column splits a data frame", {
  frame <- cbind(shop(), region = rep(c("n", "s"), 15))
  result <- kd_cluster(frame, k = 2, task_column = "region", map = FALSE)
  expect_named(labels(result), c("n", "s"))
  expect_identical(as.data.frame(result)$row, c(seq(1L, 29L, 2L), seq(2L, 30L, 2L)))
})
test_that("names of columns with commas, quotes and umlauts survive", {
  frame <- shop()[1:2]
  frame$kind <- rep(c("a", "b"), 15)
  names(frame) <- c("a, b", "say \"x\"", "Gr\u00f6\u00dfe")
  expect_identical(kd_columns(read_frame(frame))$name, names(frame))
})
test_that("numbers survive without loss", {
  frame <- data.frame(v = c(pi, 1e-300, 1e300, -1/3, 0.1), f = factor(c("a", "b", "a", "b", "a")))
  expect_identical(unname(kd_matrix(read_frame(frame))[, "v"]), frame$v)
})
test_that("decimal commas in texts are numbers if they are declared", {
  frame <- data.frame(v = c("1,5", "2,5", "3,5"), w = c(1.25, 2.5, 3.75))
  expect_equal(unname(kd_matrix(read_frame(frame, decimal = ","))), cbind(c(1.5, 2.5, 3.5), c(1.25, 2.5, 3.75)))
})
test_that("points in texts that may separate thousands are asked about", {
  frame <- data.frame(v = c("1.234", "12.500", "45.120"), w = c(1.25, 2.5, 3.75))
  expect_error(read_frame(frame), "'1.234' is ambiguous.*decimal.*thousands")
  expect_equal(unname(kd_matrix(read_frame(frame, thousands = "."))), cbind(c(1234, 12500, 45120), frame$w))
  expect_equal(unname(kd_matrix(read_frame(frame, thousands = "none"))), cbind(c(1.234, 12.5, 45.12), frame$w))
  frame$v <- c("39.364 \u20ac", "1.250 \u20ac", "7 \u20ac")
  expect_warning(x <- read_frame(frame), "was read as 39364")
  expect_equal(unname(kd_matrix(x)), cbind(c(39364, 1250, 7), frame$w))
})
test_that("further texts can mean a missing value", {
  frame <- data.frame(v = c("1", "unknown", "3", "4"), w = c(1.5, 2, 3, 4))
  expect_identical(kd_columns(read_frame(frame, na = "unknown", missing = "keep"))$missing, c(1L, 0L))
})
test_that("two columns with one name are refused", {
  frame <- shop()
  names(frame)[2] <- "age"
  expect_kindred_error(kd_cluster(frame, k = 2), "two columns are called 'age'", 20L)
})
test_that("list columns and complex numbers are refused", {
  expect_kindred_error(kd_cluster(data.frame(a = 1:3, b = I(list(1, 2, 3))), k = 2), "column 'b' is of the class")
  expect_kindred_error(kd_cluster(data.frame(a = c(1.5, 2, 3), b = complex(real = 1:3)), k = 2), "column 'b' is of the class complex")
})
test_that("times and time spans are read", {
  frame <- data.frame(at = as.POSIXct("2024-03-01 12:00:00", tz = "UTC") + 86400 * 0:4, span = as.difftime(c(1, 2, 3, 4, 5), units = "days"))
  set <- read_frame(frame)
  expect_identical(kd_columns(set)$kind, c("date", "number"))
  expect_equal(diff(unname(kd_matrix(set)[, "at"])), rep(1, 4))
})
test_that("predictions read data frames as the tables of the fit", {
  fit <- kd_cluster(list(p = shop(), q = shop(25, 7)), k = 3, method = "kmeans", scale = "standard", map = FALSE)
  expect_identical(unname(predict(fit, shop(), task = "p")), labels(fit)$p)
  more <- cbind(shop(), extra = 1)
  expect_warning(predict(fit, more, task = "p"), "does not know are ignored: 'extra'", class = "kindred_warning")
})
test_that("missing values of a single column are rows", {
  frame <- data.frame(age = c(30, NA, 31, 60, 61, 62.5))
  expect_length(labels(kd_cluster(frame, k = 2, method = "kmeans", missing = "mean", map = FALSE)), 6)
  expect_kindred_error(kd_cluster(frame, k = 2, method = "kmeans"), "row 2, column 'age': missing value", 20L)
})
test_that("values can be replaced", {
  part <- rep(1:3, length.out = 60)
  frame <- data.frame(age = 30 + 15 * part + sin(1:60), smoker = ifelse(part == 3, "ja", "nein"))
  fit <- kd_cluster(frame, k = 2, recode = list(smoker = c(ja = "yes", nein = "no")), map = FALSE)
  expect_match(paste(kd_json(fit), collapse = ""), "smoker=yes")
  expect_kindred_error(kd_cluster(frame, k = 2, recode = list(smoker = c(oui = "yes"))), "no cell of column 'smoker' is 'oui'", 20L)
  expect_kindred_error(kd_cluster(frame, k = 2, recode = c("a")), "recode|COLUMN")
})

test_that("texts of a data frame are clustered by their words", {
  words <- list(c("flour", "oven", "baker", "dough", "pastry", "crust"), c("voyage", "harbour", "sailor", "anchor", "captain", "mast"))
  texts <- unlist(lapply(words, function(own) vapply(1:15, function(i) paste(own[(i + 0:3) %% 6 + 1], collapse = " "), "")))
  frame <- data.frame(body = texts, price = seq_along(texts) %% 7, topic = rep(c("a", "b"), 15), nr = paste0("r", seq_along(texts)))
  want <- unname(labels(kd_cluster(list(texts), k = 2, map = FALSE))[[1]])
  expect_identical(want, rep(0:1, each = 15))
  fit <- kd_cluster(frame, k = 2, text_column = "body", id_column = "nr", map = FALSE)
  expect_identical(unname(labels(fit)), want)
  expect_identical(as.data.frame(fit)$id, frame$nr)
  path <- tempfile(fileext = ".csv")
  utils::write.csv(frame, path, row.names = FALSE)
  both <- kd_cluster(list(a = frame, b = path, c = texts), k = 2, text_column = "body", map = FALSE)
  expect_identical(unname(lapply(labels(both), unname)), rep(list(want), 3))
  for (table in list(frame, path))
    expect_setequal(names(labels(kd_cluster(table, k = 2, text_column = "body", task_column = "topic", map = FALSE))), c("a", "b"))
  expect_identical(dim(kd_read(frame, text_column = "body")), dim(kd_read(path, text_column = "body")))
  for (option in c("text_column", "id_column", "label_column", "task_column")) {
    how <- list(k = 2, text_column = "body")
    how[[option]] <- "nix"
    for (table in list(frame, path)) expect_kindred_error(do.call(kd_cluster, c(list(table), how)), "no column 'nix'")
    expect_kindred_error(do.call(kd_cluster, c(list(list(texts), k = 2), stats::setNames(list("nix"), option))), option)
  }
  expect_kindred_error(kd_cluster(frame, k = 2, text_column = "body", columns = "price"), "columns has no effect with text_column")
})
