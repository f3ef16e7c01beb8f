# The other commands: relate, embed, evaluate, generate, methods, read. SPDX-License-Identifier: BSD-3-Clause

# Opens data sets for a function that reads no labels. Missing values are kept, as by the default method of kd_cluster().
open_sets <- function(session, x, reads) {
  group <- c(as_tables(x, "x"), list(stem = "task", may_lack = TRUE))
  loaded <- load_groups(session, list(group), reads, "keep")[[1]]
  infos <- lapply(loaded$sets, function(set) .Call(C_data_info, set))
  names <- vapply(infos, `[[`, "", "name")
  check_twice(names)
  list(sets = loaded$sets, names = names, infos = infos)
}

#' Measure how related data sets are
#'
#' @inheritParams kd_cluster
#' @inheritParams kd_cluster.default
#' @param ... Options of reading, such as `missing` and `columns`; see
#'   [kd_cluster()].
#' @return A list of two data frames: `datasets` has the complexity of each data set,
#'   and `pairs` has one row for each pair: the overlap of their features, the
#'   A-distance (0: indistinguishable, 2: fully separable) and the maximum mean
#'   discrepancies.
#' @examples
#' sets <- kd_generate("blobs", k = 3, tasks = 3, samples = 50, seed = 1)
#' kd_relate(sets)$pairs
#' @export
kd_relate <- function(x, ..., weight = NULL, norm = NULL, scale = NULL, features = NULL, top_features = NULL, top_by = NULL,
                      fit_on = NULL, preprocess = "default", seed = 1, threads = NULL, progress = FALSE) {
  session <- session_open(seed, threads, progress = progress)
  on.exit(session_close(session))
  no_more(list(...)[setdiff(names(list(...)), names(formals(reading)))], c(names(formals(kd_relate)), names(formals(reading))))
  opened <- open_sets(session, x, reading(...))
  if (length(opened$sets) < 2) kd_stop("there is only one data set: at least two are needed")
  words <- option_words(weight = weight, norm = norm, scale = scale, features = features, top_features = top_features, top_by = top_by,
                        fit_on = fit_on, preprocess = preprocess)
  json <- call_c(session, C_run_relate, opened$sets, list(options = words))
  as_frame <- function(entries) {
    if (!length(entries)) return(NULL)
    fields <- unique(unlist(lapply(entries, names)))
    simple <- Filter(function(field) all(vapply(entries, function(e) length(e[[field]]) <= 1 && !is.list(e[[field]]), NA)), fields)
    out <- lapply(simple, function(field) unlist(lapply(entries, function(e) e[[field]] %||% NA)))
    as.data.frame(stats::setNames(out, simple))
  }
  lists <- Filter(function(part) is.list(part) && length(part) && is.null(names(part)), json)
  out <- lapply(lists, as_frame)
  names(out)[names(out) == "tasks"] <- "datasets"
  out$datasets$advice <- in_r(out$datasets$advice)
  for (line in session$warnings) kd_warn(in_r(line))
  out
}

#' Compute a two-dimensional map of samples
#'
#' Data sets with the same features share axes, so that similar samples are close
#' together.
#'
#' @inheritParams kd_cluster
#' @inheritParams kd_cluster.default
#' @param layout `"forces"` or `"directions"`.
#' @param neighbors Number of neighbours that attract a sample; the default is 15.
#' @param sweeps Number of sweeps of the forces.
#' @param ... Options of reading, such as `missing` and `columns`; see
#'   [kd_cluster()].
#' @return A matrix with two columns for one data set, otherwise a list of them.
#' @examples
#' sets <- kd_generate("blobs", k = 3, samples = 50, seed = 1)
#' xy <- kd_embed(sets, sweeps = 50)
#' dim(xy$task1)
#' @export
kd_embed <- function(x, ..., layout = "forces", neighbors = NULL, sweeps = NULL, weight = NULL, norm = NULL, scale = NULL, features = NULL,
                     top_features = NULL, top_by = NULL, fit_on = NULL, preprocess = "default", seed = 1, threads = NULL,
                     time_limit = NULL, progress = FALSE) {
  session <- session_open(seed, threads, time_limit, progress = progress)
  on.exit(session_close(session))
  no_more(list(...)[setdiff(names(list(...)), names(formals(reading)))], c(names(formals(kd_embed)), names(formals(reading))))
  opened <- open_sets(session, x, reading(...))
  words <- option_words(weight = weight, norm = norm, scale = scale, features = features, top_features = top_features, top_by = top_by,
                        fit_on = fit_on, preprocess = preprocess)
  how <- list(options = words, layout = choice(layout, "layout"), neighbors = if (is.null(neighbors)) 0 else as.double(whole(neighbors, "neighbors", 1)),
              sweeps = if (is.null(sweeps)) 0 else as.double(whole(sweeps, "sweeps", 1)))
  found <- call_c(session, C_run_embed, opened$sets, how, keeps = TRUE)
  for (t in seq_along(found)) dimnames(found[[t]]) <- list(opened$infos[[t]]$ids, c("x", "y"))
  names(found) <- opened$names
  out <- if (is_table(x) && length(found) == 1) found[[1]] else found
  if (session$interrupted) kd_interrupt(out)
  for (line in session$warnings) kd_warn(in_r(line))
  out
}

#' Compare labels with known classes
#'
#' @param labels,truth Two vectors or factors of the same length.
#' @return A named vector: accuracy under the best one-to-one map of clusters to
#'   classes (`acc`), normalised mutual information (`nmi`), adjusted Rand index
#'   (`ari`), purity, homogeneity, completeness and V-measure.
#' @examples
#' kd_evaluate(c(0, 0, 1, 1), c("a", "a", "b", "b"))
#' @export
kd_evaluate <- function(labels, truth) {
  if (length(labels) != length(truth))
    kd_stop("labels has length ", length(labels), ", but truth has length ", length(truth), ": they must be equal")
  if (length(labels) == 0) kd_stop("there are no labels: at least one is needed")
  if (anyNA(labels) || anyNA(truth)) kd_stop("labels or truth has missing values: leave these samples out")
  session <- session_open()
  on.exit(session_close(session))
  codes <- function(x) as.integer(factor(x)) - 1L
  unlist(call_c(session, C_run_evaluate, codes(labels), codes(truth)))
}

#' Generate related data sets
#'
#' @param design `"blobs"` (Gaussian clusters), `"topics"` (word counts),
#'   `"tables"` (tables with numbers and categories) or `"berikov"`.
#' @param ... Settings of the design, such as `tasks` (number of data sets), `k`
#'   (number of clusters), `samples` (one number for each data set, or one for
#'   all), `features`, `separation`, `spread`, `shift`, `rotation`, `imbalance`,
#'   `words`, `length`, `purity` and `domain`.
#' @param seed Seed: a whole number from 0.
#' @return A list of data sets of the class `kd_data` with known classes: `labels()`
#'   returns them and [kd_matrix()] the values.
#' @examples
#' sets <- kd_generate("blobs", k = 3, samples = c(60, 40), seed = 1)
#' sets
#' table(labels(sets$task1))
#' @export
kd_generate <- function(design = "blobs", ..., seed = 1) {
  designs <- c("blobs", "topics", "berikov", "tables")
  if (!is.character(design) || length(design) != 1 || !design %in% designs)
    kd_stop("design is ", shown(design), ": use one of ", paste0("\"", designs, "\"", collapse = ", "))
  spec <- list(...)
  known <- c("tasks", "k", "samples", "missing", "features", "noise_features", "separation", "spread", "shift", "rotation", "imbalance",
             "words", "length", "purity", "domain", "target", "own_features", "missing_cells", "unrelated")
  no_more(spec[!names(spec) %in% known], known)
  for (name in names(spec))
    if (!(is.numeric(spec[[name]]) || is.logical(spec[[name]])) || !length(spec[[name]]) || anyNA(spec[[name]]))
      kd_stop(name, " is ", shown(spec[[name]]), ": use a number")
  if (!is.null(spec$samples)) spec$samples <- as.double(spec$samples)
  session <- session_open(seed)
  on.exit(session_close(session))
  sets <- lapply(call_c(session, C_make_sets, design, spec), new_data)
  stats::setNames(sets, vapply(sets, `[[`, "", "name"))
}

#' List the methods, or the options of one
#'
#' @param method Name of a method; `NULL` lists all of them.
#' @param family `"cluster"`, `"transfer"` or `"features"`: only methods of this
#'   family.
#' @return A data frame with one row for each method (`method`, `family`, `title`,
#'   `summary`, and whether a saved model labels new samples), or with one row for
#'   each option of the method.
#' @examples
#' kd_methods(family = "cluster")[, c("method", "title")]
#' kd_methods("kmeans")
#' @export
kd_methods <- function(method = NULL, family = NULL) {
  all <- .Call(C_algorithms)
  if (!is.null(method)) {
    one <- find_method(method, family %||% c("cluster", "transfer", "features"))
    one$options$help <- in_r(one$options$help)
    return(as.data.frame(one$options))
  }
  out <- data.frame(method = vapply(all, `[[`, "", "id"), family = vapply(all, `[[`, "", "family"), title = vapply(all, `[[`, "", "title"),
                    summary = in_r(vapply(all, `[[`, "", "summary")), predict = vapply(all, function(a) bitwAnd(a$flags, 16L) > 0, NA),
                    bridge = vapply(all, function(a) bitwAnd(a$flags, 17408L) > 0, NA))
  if (!is.null(family)) {
    if (!all(family %in% out$family)) kd_stop("family is ", shown(family), ": use \"cluster\", \"transfer\" or \"features\"")
    out <- out[out$family %in% family, ]
    rownames(out) <- NULL
  }
  out
}

# A method by its id, or by its name within the family.
find_method <- function(name, family) {
  all <- Filter(function(a) a$family %in% family, .Call(C_algorithms))
  if (!is.character(name) || length(name) != 1 || is.na(name)) kd_stop("method is ", shown(name), ": use one name; kd_methods() lists them", status = 11L)
  ids <- vapply(all, `[[`, "", "id")
  found <- which(ids == name)
  if (!length(found)) found <- which(vapply(all, `[[`, "", "called") == name)
  if (length(found)) return(all[[found[1]]])
  others <- vapply(.Call(C_algorithms), `[[`, "", "id")
  if (name %in% others) kd_stop("'", name, "' is not a method of the family ", paste(family, collapse = ", "), ": use one of ", paste(ids, collapse = ", "), status = 11L)
  kd_stop("there is no method '", name, "'", suggestion(name, ids), " (kd_methods() lists all methods)", status = 11L)
}

new_data <- function(pointer) structure(list(name = .Call(C_data_info, pointer)$name, pointer = pointer), class = "kd_data")

#' Read data sets from files
#'
#' Reads every format of the program: CSV and other tables, Excel, Matrix Market,
#' NumPy, MATLAB, HDF5, AnnData, 10x folders, SVMlight, and folders of texts.
#'
#' @param path Path of a file or folder, or a vector or list of several, which are
#'   read together; or a data frame.
#' @param format Format of the file, such as `"csv"` or `"mtx"`. By default it
#'   follows from the name.
#' @param name Name of the data set. By default the file name without its ending.
#' @param delimiter,encoding Separator of columns and encoding of a table. By
#'   default they are detected.
#' @param header Whether the first line holds names of columns. By default this is
#'   detected.
#' @param transpose Whether samples are in columns.
#' @param model A result or model: read a table as those that it was fitted on.
#' @param feature_names AnnData files: column of `var` with the names of the features,
#'   such as gene symbols.
#' @inheritParams kd_cluster.default
#' @param ... Unknown arguments are an error.
#' @return A data set of the class `kd_data`; a list of them if several paths were
#'   given or `task_column` was used. `labels()` returns its classes, `dim()` its
#'   size, `kd_matrix()` and `as.matrix()` its values.
#' @examples
#' path <- tempfile(fileext = ".csv")
#' writeLines(c("height,width,kind", "1.5,0.2,a", "1.7,0.3,a", "4.1,1.2,b"), path)
#' plants <- kd_read(path, name = "plants", label_column = "kind")
#' plants
#' labels(plants)
#' @export
kd_read <- function(path, ..., format = NULL, name = NULL, columns = NULL, rename = NULL, recode = NULL, missing = NULL, na = NULL, decimal = NULL, thousands = NULL, skip_rows = NULL, sheet = NULL,
                    id_column = NULL, label_column = NULL, task_column = NULL, text_column = NULL, texts = NULL, delimiter = NULL,
                    encoding = NULL, header = NULL, transpose = FALSE, model = NULL, feature_names = NULL) {
  no_more(list(...), names(formals(kd_read)))
  session <- session_open()
  on.exit(session_close(session))
  how <- reading(columns, rename, recode, missing, na, decimal, thousands, skip_rows, sheet, id_column, label_column, task_column, text_column, texts, format = format,
                 delimiter = delimiter, encoding = encoding, header = header, transpose = flag(transpose, "transpose"), feature_names = feature_names)
  pointer <- if (inherits(model, "kindred")) call_c(session, C_model_make, alive(model)) else if (!is.null(model)) model$pointer
  if (is.data.frame(path) && !is.null(text_column)) {
    found <- texts_of_frames(list(list(tables = list(path), names = name %||% "data", stem = "data", may_lack = FALSE)), how)[[1]]
    fields <- found$fields[[1]]
    names(fields)[names(fields) == "id"] <- id_column %||% "id"
    how$id_column <- if (!is.null(found$fields[[1]][["id"]])) id_column %||% "id"
    file <- write_texts(found$tables[[1]], fields, text_column)
    on.exit(unlink(file), add = TRUE)
    sets <- read_paths(session, file, name %||% "data", c(how, list(temporary = TRUE)), FALSE, model = pointer)$sets
    several <- FALSE
  } else if (is.data.frame(path)) {
    sets <- read_frame(session, path, name %||% "data", how, pointer)
    several <- FALSE
  } else {
    paths <- unlist(path)
    if (!is.character(paths) || !length(paths) || anyNA(paths)) kd_stop("path is ", shown(path), ": use the path of a file or folder")
    several <- length(paths) > 1 || is.list(path)
    sets <- read_paths(session, unname(paths), names(paths) %||% rep(name %||% NA_character_, length(paths)), how, rep(FALSE, length(paths)), model = pointer)$sets
  }
  for (line in session$warnings) kd_warn(in_r(line))
  sets <- lapply(sets, new_data)
  if (!several && is.null(task_column)) return(sets[[1]])
  stats::setNames(sets, vapply(sets, `[[`, "", "name"))
}

#' Data sets that kd_read() and kd_generate() return
#'
#' @param x,object A data set.
#' @param ... Ignored.
#' @return `kd_matrix()` returns a numeric matrix, or a `dgCMatrix` if the data are
#'   sparse. `labels()` returns the classes as a factor, or `NULL`. `kd_columns()`
#'   returns how each column of a table was treated.
#' @name kd_data
#' @examples
#' sets <- kd_generate("blobs", samples = 5, seed = 1)
#' kd_matrix(sets[[1]])
#' labels(sets[[1]])
NULL

#' @rdname kd_data
#' @export
kd_matrix <- function(x) {
  if (!inherits(x, "kd_data")) kd_stop("x is ", shown(class(x)[1]), ": use a data set of kd_read() or kd_generate()")
  info <- .Call(C_data_info, x$pointer)
  values <- .Call(C_data_values, x$pointer)
  if (!info$sparse) {
    if (!is.null(info$features) || !is.null(info$ids)) dimnames(values) <- list(info$ids, info$features)
    return(values)
  }
  if (!requireNamespace("Matrix", quietly = TRUE)) kd_stop("sparse data need the package Matrix", status = 60L)
  Matrix::sparseMatrix(j = values$j, p = values$p, x = values$x, dims = info$dim, dimnames = list(info$ids, info$features), index1 = FALSE, repr = "C")
}

#' @rdname kd_data
#' @export
kd_columns <- function(x) {
  if (!inherits(x, "kd_data")) kd_stop("x is ", shown(class(x)[1]), ": use a data set of kd_read()")
  columns <- .Call(C_data_info, x$pointer)$columns
  if (!is.null(columns)) as.data.frame(columns)
}

#' @rdname kd_data
#' @export
as.matrix.kd_data <- function(x, ...) as.matrix(kd_matrix(x))

#' @rdname kd_data
#' @export
dim.kd_data <- function(x) .Call(C_data_info, x$pointer)$dim

#' @rdname kd_data
#' @export
labels.kd_data <- function(object, ...) {
  info <- .Call(C_data_info, object$pointer)
  if (!is.null(info$labels)) factor(info$classes[info$labels + 1L], levels = info$classes)
}

#' @rdname kd_data
#' @export
print.kd_data <- function(x, ...) {
  size <- dim(x)
  cat("kindred data set '", x$name, "': ", count_of(size[1], "sample"), ", ", count_of(size[2], "feature"), "\n", sep = "")
  invisible(x)
}

#' The version and the optional parts of this build
#'
#' @return A text: the version, the compiler, and which optional libraries were
#'   found when the package was installed.
#' @examples
#' cat(kd_build())
#' @export
kd_build <- function() {
  build <- .Call(C_build)
  paste0("kindred: ", build$version, "\n", build$info)
}
