# Two tables of three groups each, as files.
shops <- function() {
  folder <- tempfile()
  dir.create(folder)
  for (name in c("north", "south")) {
    n <- if (name == "north") 30 else 24
    kind <- seq_len(n) %% 3 + 1
    write.csv(data.frame(id = paste0(name, seq_len(n)), age = c(20, 40, 60)[kind] + seq_len(n) %% 4 * .1, income = c(1000, 5000, 2500)[kind] + seq_len(n) %% 5),
              file.path(folder, paste0(name, ".csv")), row.names = FALSE)
  }
  folder
}
read_shops <- function(folder) list(north = kd_read(file.path(folder, "north.csv"), id_column = "id"), south = kd_read(file.path(folder, "south.csv"), id_column = "id"))

test_that("names are in frames, tables, models and other levels", {
  folder <- shops()
  fit <- quiet(kd_cluster(read_shops(folder), k = 2:4, map = FALSE, model = TRUE))
  fit <- kd_rename(fit, c("0" = "young", "1" = "r\u00edch"))
  expect_identical(fit$names$south[1:2], c("young", "r\u00edch"))
  frame <- as.data.frame(fit)
  expect_identical(unique(frame$name[frame$cluster == 0]), "young")
  path <- kd_save_table(fit, file.path(folder, "new.csv"), dataset = "south")
  table <- read.csv(path, encoding = "UTF-8")
  expect_equal(table$cluster, labels(fit)$south)
  expect_identical(table$cluster_name, frame$name[frame$dataset == "south"])
  expect_identical(names(read.csv(kd_save_table(fit, file.path(folder, "less.csv"), columns = c("name", "second"))))[4:5], c("cluster_name", "cluster_second"))
  two <- kd_cut(fit, 2)
  table <- read.csv(kd_save_table(two, file.path(folder, "two.csv"), dataset = "north"))
  expect_equal(table$cluster, labels(two)$north)
  expect_length(unique(table$cluster), 2)
  again <- quiet(kd_into(fit, list(west = read_shops(folder)[[1]]), map = FALSE))
  expect_identical(again$names$west[1:2], c("young", "r\u00edch"))
  expect_kindred_error(kd_rename(fit, c("9" = "x")), "no cluster 9")
  expect_kindred_error(kd_rename(fit, c("2" = "young")), "same name")
})
test_that("kd_relabel writes names into tables", {
  folder <- shops()
  fit <- quiet(kd_cluster(read_shops(folder), k = 3, map = FALSE))
  result <- kd_json(fit, file.path(folder, "result.json"))
  writeLines("0,first", file.path(folder, "names.csv"))
  kd_relabel(result, file.path(folder, "names.csv"), file.path(folder, "edited"), table = file.path(folder, "edited.csv"), columns = c("label", "name"))
  for (name in c("north", "south")) {
    table <- read.csv(file.path(folder, paste0("edited-", name, ".csv")))
    expect_identical(names(table), c("id", "age", "income", "cluster", "cluster_name"))
    expect_equal(table$cluster, labels(fit)[[name]])
    expect_identical(unique(table$cluster_name[table$cluster == 0]), "first")
  }
  expect_kindred_error(kd_relabel(result, file.path(folder, "names.csv"), file.path(folder, "other"), columns = "label"), "no effect without table")
})
test_that("matches and coordinates that all data sets share", {
  fit <- quiet(kd_cluster(read_shops(shops()), k = 3, map = FALSE, representation = TRUE))
  expect_length(fit$match$north, 3)
  expect_true(all(fit$match$north > 0 & fit$match$north <= 1))
  expect_identical(nrow(fit$representation$south), 24L)
  expect_true(all(is.finite(fit$representation$north)))
  expect_null(quiet(kd_cluster(read_shops(shops()), k = 3, map = FALSE))$representation)
  alone <- quiet(kd_cluster(read_shops(shops())[[1]], k = 3, map = FALSE))
  expect_true(all(is.na(alone$match[[1]])))
})
