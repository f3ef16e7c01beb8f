# SingleCellExperiment and Seurat objects, whose samples are in columns. SPDX-License-Identifier: BSD-3-Clause

need <- function(package) {
  if (!requireNamespace(package, quietly = TRUE)) kd_stop("this needs the package ", package, ": install it first", status = 60L)
}

# The matrix of a set of cells, genes in rows.
cells_matrix <- function(x, assay = NULL, layer = "counts") {
  if (inherits(x, "Seurat")) {
    need("SeuratObject")
    assay <- assay %||% SeuratObject::DefaultAssay(x)
    by_layer <- "layer" %in% names(formals(utils::getS3method("GetAssayData", "Seurat", envir = asNamespace("SeuratObject"))))
    values <- if (by_layer) SeuratObject::GetAssayData(x, assay = assay, layer = layer) else SeuratObject::GetAssayData(x, assay = assay, slot = layer)
  } else {
    need("SummarizedExperiment")
    known <- SummarizedExperiment::assayNames(x)
    assay <- assay %||% if ("counts" %in% known) "counts" else known[1]
    if (!length(known) || !assay %in% known) kd_stop("there is no assay '", assay, "': the assays are ", paste(known, collapse = ", "))
    values <- SummarizedExperiment::assay(x, assay)
  }
  if (!is.matrix(values) && !inherits(values, "sparseMatrix")) values <- methods::as(values, "CsparseMatrix")
  if (nrow(values) == 0 || ncol(values) == 0) kd_stop("the matrix has ", nrow(values), " genes and ", ncol(values), " cells: choose another assay or layer", status = 20L)
  values
}

# A column of the data of the cells.
cell_column <- function(x, name) {
  data <- if (inherits(x, "Seurat")) x[[]] else { need("SummarizedExperiment"); SummarizedExperiment::colData(x) }
  if (!name %in% colnames(data)) kd_stop("there is no column '", name, "' in the data of the cells: it has ", paste(colnames(data), collapse = ", "),
                                         suggestion(name, colnames(data)))
  data[[name]]
}

# Fits the cells of each batch as a data set. Returns the fit and, in the order of the cells, labels (known classes by their names), second choices,
# confidence, match and coordinates.
fit_cells <- function(values, batch, k, call, ..., representation = TRUE) {
  cells <- colnames(values) %||% as.character(seq_len(ncol(values)))
  if (is.null(batch)) batch <- rep("cells", ncol(values))
  if (anyNA(batch)) kd_stop("the batch of ", sum(is.na(batch)), " cells is missing: every cell needs a batch", status = 20L)
  parts <- split(seq_along(cells), factor(batch, levels = unique(batch)))
  session <- session_open()
  on.exit(session_close(session))
  sets <- lapply(names(parts), function(name) {
    part <- if (length(parts) == 1) values else values[, parts[[name]], drop = FALSE]
    new_data(owned(session, list(matrix_set(session, part, name, transposed = TRUE)))[[1]])
  })
  fit <- kd_cluster.default(stats::setNames(sets, names(parts)), k = k, ..., representation = representation)
  fit$call <- call_of_generic(call)
  n <- length(cells)
  labels <- second <- rep(NA_integer_, n)
  confidence <- match <- rep(NA_real_, n)
  shared <- NULL
  xy <- matrix(NA_real_, n, 2, dimnames = list(cells, paste0("KINDRED_", 1:2)))
  for (name in names(parts)) {
    labels[parts[[name]]] <- fit$labels[[name]]
    match[parts[[name]]] <- fit$match[[name]][fit$labels[[name]] + 1L]
    if (!is.null(fit$second[[name]])) second[parts[[name]]] <- fit$second[[name]]
    coordinates <- fit$representation[[name]]
    if (!is.null(coordinates)) {
      if (is.null(shared)) shared <- matrix(NA_real_, n, ncol(coordinates), dimnames = list(cells, paste0("KINDREDREP_", seq_len(ncol(coordinates)))))
      shared[parts[[name]], ] <- coordinates
    }
    if (!is.null(fit$confidence[[name]])) confidence[parts[[name]]] <- fit$confidence[[name]]
    map <- fit$map[[name]]
    if (!is.null(map)) xy[parts[[name]][map$sample], ] <- as.matrix(map[c("x", "y")])
  }
  known <- list(...)$known
  known <- unique(as.character(unlist(if (is_path(known) && is.null(names(known))) NULL else known)))
  called <- function(number) {
    names <- unlist(lapply(fit$names, `[`, number + 1L))
    names <- names[names %in% known]
    if (length(names)) names[[1]] else as.character(number)
  }
  numbers <- sort(unique(c(labels, second)))
  levels <- vapply(numbers, called, "")
  as_level <- function(codes) factor(codes, levels = numbers, labels = levels)
  columns <- data.frame(cluster = as_level(labels), confidence = confidence, row.names = cells)
  if (!all(is.na(second))) columns$second <- as_level(second)
  if (!all(is.na(match))) columns$match <- match
  list(fit = fit, columns = columns, xy = if (!all(is.na(xy))) xy, shared = shared)
}

# Columns that an earlier run may have written and a later one may not.
earlier_columns <- function(name) paste0(name, c("_confidence", "_second", "_match"))

#' Cluster cells of several batches
#'
#' The cells of each batch are one data set. Samples are in columns, as in all
#' objects of these classes.
#'
#' @param x A `SingleCellExperiment` or `Seurat` object.
#' @param batch Name of the column of the cells' data (`colData`, or `meta.data`)
#'   with the batch of each cell; `NULL` treats all cells as one data set.
#' @param k,... Arguments of [kd_cluster()].
#' @param assay Name of the assay. By default `counts`, or the default assay.
#' @param layer Layer (slot) of a Seurat assay.
#' @param name Name of the results in the object.
#' @return The object with the clusters: a factor of their numbers, or of the classes
#'   that `known` names. `SingleCellExperiment`: `colData(x)$kindred`,
#'   `kindred_confidence`, `kindred_second` and `kindred_match` (the probability that the
#'   cluster is the same group in all batches), the map `reducedDim(x, "KINDRED")`,
#'   coordinates that all batches share, `reducedDim(x, "KINDRED_REP")`, and the complete
#'   result in `metadata(x)$kindred`. `Seurat`: `Idents(x)`, `x$kindred_cluster`,
#'   `x$kindred_confidence`, `x$kindred_second`, `x$kindred_match`, the reductions `kindred`
#'   and `kindred_rep`, and the complete result in `Misc(x, "kindred")`.
#' @name kd_cluster_cells
#' @examplesIf isNamespaceLoaded("SingleCellExperiment")
#' # run after library(SingleCellExperiment)
#' sets <- kd_generate("topics", k = 3, samples = 40, words = 200, seed = 1)
#' counts <- t(rbind(as.matrix(sets[[1]]), as.matrix(sets[[2]])))
#' colnames(counts) <- paste0("cell", seq_len(ncol(counts)))
#' sce <- SingleCellExperiment::SingleCellExperiment(list(counts = counts))
#' sce$batch <- rep(c("a", "b"), each = 40)
#' sce <- kd_cluster(sce, batch = "batch", k = 3, method = "kmeans")
#' table(sce$kindred, sce$batch)
NULL

#' @rdname kd_cluster_cells
#' @export
kd_cluster.SingleCellExperiment <- function(x, batch = NULL, k = NULL, ..., assay = NULL, name = "kindred") {
  need("SingleCellExperiment")
  batches <- if (!is.null(batch)) as.character(cell_column(x, batch))
  found <- fit_cells(cells_matrix(x, assay), batches, k, match.call(), ...)
  data <- SummarizedExperiment::colData(x)
  for (column in intersect(earlier_columns(name), names(data))) data[[column]] <- NULL
  data[[name]] <- found$columns$cluster
  for (column in setdiff(names(found$columns), "cluster")) data[[paste0(name, "_", column)]] <- found$columns[[column]]
  SummarizedExperiment::colData(x) <- data
  for (reduction in intersect(toupper(c(name, paste0(name, "_rep"))), SingleCellExperiment::reducedDimNames(x)))
    SingleCellExperiment::reducedDim(x, reduction) <- NULL
  if (!is.null(found$xy)) SingleCellExperiment::reducedDim(x, toupper(name)) <- found$xy
  if (!is.null(found$shared)) SingleCellExperiment::reducedDim(x, paste0(toupper(name), "_REP")) <- found$shared
  metadata <- S4Vectors::metadata(x)
  metadata[[name]] <- found$fit
  S4Vectors::metadata(x) <- metadata
  x
}

#' @rdname kd_cluster_cells
#' @export
kd_cluster.Seurat <- function(x, batch = NULL, k = NULL, ..., assay = NULL, layer = "counts", name = "kindred") {
  need("SeuratObject")
  batches <- if (!is.null(batch)) as.character(cell_column(x, batch))
  assay <- assay %||% SeuratObject::DefaultAssay(x)
  found <- fit_cells(cells_matrix(x, assay, layer), batches, k, match.call(), ...)
  cells <- colnames(x)
  data <- stats::setNames(found$columns, paste0(name, "_", names(found$columns)))
  rownames(data) <- cells
  for (column in intersect(earlier_columns(name), names(x@meta.data))) x@meta.data[[column]] <- NULL
  for (reduction in c(name, paste0(name, "_rep"))) x@reductions[[reduction]] <- NULL
  x <- SeuratObject::AddMetaData(x, data)
  SeuratObject::Idents(x) <- stats::setNames(found$columns$cluster, cells)
  if (!is.null(found$shared))
    x[[paste0(name, "_rep")]] <- SeuratObject::CreateDimReducObject(embeddings = found$shared, key = "KINDREDREP_", assay = assay)
  if (!is.null(found$xy))
    x[[name]] <- SeuratObject::CreateDimReducObject(embeddings = found$xy, key = "KINDRED_", assay = assay)
  x@misc[[name]] <- found$fit # Misc<- would remove its class
  x
}
