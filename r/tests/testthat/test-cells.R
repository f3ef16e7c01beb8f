# Counts of 60 genes in 90 cells of two batches and three types. There are fewer genes than cells, so that a mistake of orientation shows.
cells <- function(sparse = TRUE) {
  type <- rep(1:3, length.out = 90)
  counts <- outer(1:60, 1:90, function(g, c) (g * 7 + c * 13) %% 4 + ifelse((g - 1) %/% 20 + 1 == type[c], 12 + (g * c) %% 5, 0))
  dimnames(counts) <- list(paste0("gene", 1:60), paste0("cell", 1:90))
  list(counts = if (sparse) methods::as(methods::as(methods::as(counts, "dMatrix"), "generalMatrix"), "CsparseMatrix") else counts,
       type = type, batch = rep(c("x", "y", "y"), each = 30)[order((1:90 * 37) %% 91)])
}
experiment <- function(sparse = TRUE) {
  data <- cells(sparse)
  sce <- SingleCellExperiment::SingleCellExperiment(list(counts = data$counts))
  sce$batch <- data$batch
  sce$type <- factor(paste0("t", data$type))
  sce
}

test_that("SingleCellExperiment: clusters, confidence and coordinates of the cells", {
  skip_if_not_installed("SingleCellExperiment")
  skip_if_not_installed("Matrix")
  sce <- quiet(kd_cluster(experiment(), batch = "batch", k = 3, method = "kmeans"))
  expect_s4_class(sce, "SingleCellExperiment")
  expect_identical(dim(sce), c(60L, 90L))
  for (batch in c("x", "y")) expect_equal(kd_evaluate(sce$kindred[sce$batch == batch], sce$type[sce$batch == batch])[["acc"]], 1)
  expect_identical(dim(SingleCellExperiment::reducedDim(sce, "KINDRED")), c(90L, 2L))
  expect_true(all(sce$kindred_confidence >= 0))
  expect_s3_class(S4Vectors::metadata(sce)$kindred, "kindred")
})
test_that("SingleCellExperiment: names, second choices, matches and common coordinates", {
  skip_if_not_installed("SingleCellExperiment")
  skip_if_not_installed("Matrix")
  sce <- experiment()
  sce <- quiet(kd_cluster(sce, batch = "batch", k = 3, known = c(cell1 = "first", cell2 = "second"), map = FALSE, name = "seg"))
  expect_identical(as.character(sce$seg[1:2]), c("first", "second"))
  expect_identical(sum(levels(sce$seg) %in% c("first", "second")), 2L)
  for (batch in c("x", "y")) expect_equal(kd_evaluate(sce$seg[sce$batch == batch], sce$type[sce$batch == batch])[["acc"]], 1)
  expect_identical(levels(sce$seg_second), levels(sce$seg))
  expect_true(all(sce$seg_match > 0 & sce$seg_match <= 1))
  shared <- SingleCellExperiment::reducedDim(sce, "SEG_REP")
  expect_identical(dim(shared), c(90L, 50L))
  expect_true(all(is.finite(shared)))
  expect_identical(rownames(shared), colnames(sce))
})
test_that("SingleCellExperiment: nothing of an earlier run is kept", {
  skip_if_not_installed("SingleCellExperiment")
  skip_if_not_installed("Matrix")
  sce <- experiment()
  sce$kindred_match <- sce$kindred_own <- 1
  sce <- quiet(kd_cluster(sce, k = 3, method = "kmeans", map = FALSE)) # one batch has no matches
  expect_true("kindred_own" %in% names(SummarizedExperiment::colData(sce)))
  expect_false("kindred_match" %in% names(SummarizedExperiment::colData(sce)))
})

test_that("SingleCellExperiment: labels equal those of transposed matrices", {
  skip_if_not_installed("SingleCellExperiment")
  skip_if_not_installed("Matrix")
  data <- cells(FALSE)
  parts <- lapply(split(1:90, factor(data$batch, levels = unique(data$batch))), function(i) t(data$counts[, i]))
  expected <- quiet(kd_cluster(parts, k = 3, method = "mbc", map = FALSE))
  for (sparse in c(TRUE, FALSE)) {
    sce <- quiet(kd_cluster(experiment(sparse), batch = "batch", k = 3, method = "mbc", map = FALSE))
    for (name in names(parts)) expect_identical(as.integer(as.character(sce$kindred))[data$batch == name], labels(expected)[[name]])
  }
})
test_that("SingleCellExperiment: one batch and unknown columns", {
  skip_if_not_installed("SingleCellExperiment")
  sce <- quiet(kd_cluster(experiment(FALSE), k = 3, method = "kmeans", map = FALSE))
  expect_identical(nlevels(sce$kindred), 3L)
  expect_kindred_error(kd_cluster(experiment(), batch = "bach", k = 3), "did you mean 'batch'")
  expect_kindred_error(kd_cluster(experiment(), assay = "logcounts", k = 3), "the assays are counts")
})
test_that("SingleCellExperiment: labels are transferred between objects", {
  skip_if_not_installed("SingleCellExperiment")
  skip_if_not_installed("Matrix")
  sce <- experiment()
  fit <- quiet(kd_transfer(sce[, sce$batch == "x"], "type", sce[, sce$batch == "y"], method = "svm", map = FALSE))
  expect_identical(as.character(labels(fit)), as.character(sce$type[sce$batch == "y"]))
})
test_that("Seurat: identities, meta data and reduction", {
  skip_if_not_installed("SeuratObject")
  skip_if_not_installed("Matrix")
  data <- cells()
  object <- suppressWarnings(SeuratObject::CreateSeuratObject(data$counts))
  object$orig.ident <- data$batch
  object <- quiet(kd_cluster(object, batch = "orig.ident", k = 3, method = "kmeans"))
  for (batch in c("x", "y")) expect_equal(kd_evaluate(object$kindred_cluster[data$batch == batch], data$type[data$batch == batch])[["acc"]], 1)
  expect_identical(unname(SeuratObject::Idents(object)), unname(object$kindred_cluster))
  expect_identical(dim(SeuratObject::Embeddings(object, "kindred")), c(90L, 2L))
  expect_identical(rownames(SeuratObject::Embeddings(object, "kindred")), colnames(object))
  expect_s3_class(SeuratObject::Misc(object, "kindred"), "kindred")
  expect_identical(dim(SeuratObject::Embeddings(object, "kindred_rep")), c(90L, 50L))
  expect_true("kindred_second" %in% colnames(object[[]]))
})
