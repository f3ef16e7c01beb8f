# Models and predictions. SPDX-License-Identifier: BSD-3-Clause

#' Label new samples
#'
#' @param object A result of [kd_cluster()] or [kd_transfer()], or a model that
#'   [kd_load()] returns.
#' @param newdata The new samples: a table as for [kd_cluster()]. Data frames and
#'   files are read as the tables that the model was fitted on. Leave it out to get
#'   the labels or probabilities of the fit.
#' @param task Name of the data set that the samples belong to. Needed if the
#'   model has several data sets.
#' @param type `"label"` or `"prob"`. Probabilities are available for the targets
#'   of a transfer with `probabilities = TRUE`, without `newdata`.
#' @param threads Number of threads; `NULL` uses all available cores.
#' @param ... Unknown arguments are an error.
#' @return Clusters from 0, or classes as a factor; for `type = "prob"` a matrix
#'   with one column for each class. Names are those of the samples, if they have
#'   any.
#' @seealso [kd_save()], [kd_load()]
#' @examples
#' sets <- kd_generate("blobs", k = 3, samples = 60, seed = 1)
#' fit <- kd_cluster(sets, k = 3, method = "kmeans", map = FALSE)
#' predict(fit, kd_matrix(sets[[1]])[1:4, ], task = "task1")
#' @export
predict.kindred <- function(object, newdata, task = NULL, type = c("label", "prob"), threads = NULL, ...) {
  no_more(list(...), c("newdata", "task", "type", "threads"))
  type <- match.arg(type)
  if (type == "prob") {
    if (!missing(newdata)) kd_stop("type = \"prob\" is available for the samples of the fit only: leave out newdata", status = 60L)
    if (is.null(object$probabilities[[1]])) kd_stop("the fit has no probabilities: use kd_transfer(probabilities = TRUE)")
    return(if (object$single) object$probabilities[[1]] else object$probabilities)
  }
  if (missing(newdata)) return(labels(object))
  session <- session_open(threads = threads)
  on.exit(session_close(session))
  model <- call_c(session, C_model_make, alive(object))
  predict_with(session, model, newdata, task, levels(object$labels[[1]]))
}

#' @rdname predict.kindred
#' @export
predict.kindred_model <- function(object, newdata, task = NULL, threads = NULL, ...) {
  no_more(list(...), c("newdata", "task", "threads"))
  if (missing(newdata)) kd_stop("newdata is missing: give the samples to label")
  if (!.Call(C_is_alive, object$pointer)) kd_stop("the model is no longer in memory: read it again with kd_load()")
  session <- session_open(threads = threads)
  on.exit(session_close(session))
  predict_with(session, object$pointer, newdata, task, NULL)
}

predict_with <- function(session, model, newdata, task, levels) {
  info <- .Call(C_model_info, model)
  if (is.numeric(task) && length(task) == 1 && task %in% seq_along(info$tasks)) task <- info$tasks[task]
  if (!is.null(task) && (!is.character(task) || length(task) != 1 || !task %in% info$tasks))
    kd_stop("task is ", shown(task), ": the data sets of the model are ", paste0("\"", info$tasks, "\"", collapse = ", "))
  if (!is_table(newdata) && !is_texts(newdata)) kd_stop("newdata is ", shown(class(newdata)[1]), ": use a matrix, a sparse matrix, a data frame or a path")
  if (is_path(newdata)) {
    set <- read_paths(session, newdata, NA_character_, list(), FALSE, model = model)$sets[[1]]
  } else if (is_texts(newdata)) {
    path <- write_texts(newdata)
    on.exit(unlink(path))
    set <- read_paths(session, path, "samples", list(text_column = "text"), TRUE, model = model)$sets[[1]]
  } else if (is.data.frame(newdata) && (!is.na(info$columns) || !is_plain(newdata))) {
    more <- setdiff(names(newdata), column_items(info$columns))
    if (!is.na(info$columns) && length(more))
      kd_warn(paste0("column", if (length(more) > 1) "s", " ", paste0("'", more, "'", collapse = ", "), ": not in the data that the model was fitted on; ignored"))
    set <- read_frame(session, newdata, "samples", list(), model)[[1]]
  } else {
    set <- table_set(session, newdata, "samples")
  }
  owned(session, list(set))
  pointer <- call_c(session, C_run_predict, model, set, task)
  found <- .Call(C_result_info, pointer)
  for (line in unique(vapply(c(session$warnings, found$warnings), in_r, ""))) kd_warn(line)
  out <- found$tasks[[1]]$labels
  if (!is.null(found$classes)) out <- factor(found$classes[out + 1L], levels = c(intersect(levels, found$classes), setdiff(found$classes, levels)))
  names(out) <- found$tasks[[1]]$ids
  out
}

#' Save and read models
#'
#' Model files are the same for R, Python and the program. They are HDF5 files:
#' both functions need a build with HDF5 ([kd_build()]).
#'
#' @param fit A result of [kd_cluster()] or [kd_transfer()].
#' @param path The file.
#' @param force Replace an existing file.
#' @return `kd_save()` returns `path` invisibly; `kd_load()` returns an object of the
#'   class `kindred_model`, for [predict()][predict.kindred_model].
#' @examples
#' sets <- kd_generate("blobs", k = 3, samples = 60, seed = 1)
#' fit <- kd_cluster(sets, k = 3, method = "kmeans", map = FALSE)
#' if (grepl("hdf5: yes", kd_build())) {
#'   path <- kd_save(fit, tempfile(fileext = ".h5"))
#'   model <- kd_load(path)
#'   predict(model, kd_matrix(sets[[1]])[1:4, ], task = "task1")
#' }
#' @export
kd_save <- function(fit, path, force = FALSE) {
  check_fit(fit)
  session <- session_open()
  on.exit(session_close(session))
  call_c(session, C_model_write, alive(fit), path.expand(path), flag(force, "force"))
  invisible(path)
}

#' @rdname kd_save
#' @export
kd_load <- function(path) {
  if (!is_path(path)) kd_stop("path is ", shown(path), ": use the path of a model file")
  session <- session_open()
  on.exit(session_close(session))
  pointer <- call_c(session, C_model_read, path.expand(path))
  info <- .Call(C_model_info, pointer)
  structure(list(method = info$method, datasets = info$tasks, path = path, pointer = pointer), class = "kindred_model")
}

#' @rdname kd_save
#' @param x A model.
#' @param ... Ignored.
#' @export
print.kindred_model <- function(x, ...) {
  cat("Model of ", x$method, " for ", count_of(length(x$datasets), "data set"), ": ", paste(head(x$datasets, 10), collapse = ", "),
      if (length(x$datasets) > 10) ", ...", "\n", sep = "")
  invisible(x)
}
