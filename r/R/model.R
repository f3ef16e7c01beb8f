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
#' @param type `"label"`, `"confidence"` for a data frame with the columns `label`,
#'   `confidence` (from 0 to 1) and `second`, or `"prob"`. Probabilities are available
#'   for the targets of a transfer with `probabilities = TRUE`, without `newdata`.
#' @param threads Number of threads; `NULL` uses all available cores.
#' @param ... Unknown arguments are an error.
#' @details If the model labels by a vote (method `auto` with `model = TRUE`), a
#'   message reports how many samples have a confidence below 0.5.
#' @return Clusters from 0, or classes as a factor; for `type = "prob"` a matrix
#'   with one column for each class. Names are those of the samples, if they have
#'   any.
#' @seealso [kd_save()], [kd_load()]
#' @examples
#' sets <- kd_generate("blobs", k = 3, samples = 60, seed = 1)
#' fit <- kd_cluster(sets, k = 3, method = "kmeans", map = FALSE)
#' predict(fit, kd_matrix(sets[[1]])[1:4, ], task = "task1")
#' @export
predict.kindred <- function(object, newdata, task = NULL, type = c("label", "confidence", "prob"), threads = NULL, ...) {
  no_more(list(...), c("newdata", "task", "type", "threads"))
  type <- match.arg(type)
  if (type == "prob") {
    if (!missing(newdata)) kd_stop("type = \"prob\" is available for the samples of the fit only: leave out newdata", status = 60L)
    if (is.null(object$probabilities[[1]])) kd_stop("the fit has no probabilities: use kd_transfer(probabilities = TRUE)")
    return(if (object$single) object$probabilities[[1]] else object$probabilities)
  }
  if (missing(newdata)) {
    if (type == "label") return(labels(object))
    frame <- as.data.frame(object)
    return(data.frame(label = frame[[3]], frame[c("confidence", "second")], row.names = make.unique(frame$id)))
  }
  session <- session_open(threads = threads)
  on.exit(session_close(session))
  model <- call_c(session, C_model_make, alive(object))
  predict_with(session, model, newdata, task, levels(object$labels[[1]]), type)
}

#' @rdname predict.kindred
#' @export
predict.kindred_model <- function(object, newdata, task = NULL, type = c("label", "confidence"), threads = NULL, ...) {
  no_more(list(...), c("newdata", "task", "type", "threads"))
  type <- match.arg(type)
  if (missing(newdata)) kd_stop("newdata is missing: give the samples to label")
  session <- session_open(threads = threads)
  on.exit(session_close(session))
  predict_with(session, model_of(session, object), newdata, task, NULL, type)
}

# The model in memory of a result or of a model that was read.
model_of <- function(session, object) {
  if (inherits(object, "kindred")) return(call_c(session, C_model_make, alive(object)))
  if (!inherits(object, "kindred_model")) kd_stop("model is ", shown(class(object)[1]), ": use a result of kd_cluster() or kd_transfer(), or a model of kd_load()")
  if (!.Call(C_is_alive, object$pointer)) kd_stop("the model is no longer in memory: read it again with kd_load()")
  object$pointer
}

predict_with <- function(session, model, newdata, task, levels, type) {
  info <- .Call(C_model_info, model)
  if (is.numeric(task) && length(task) == 1 && task %in% seq_along(info$tasks)) task <- info$tasks[task]
  if (!is.null(task) && (!is.character(task) || length(task) != 1 || !task %in% info$tasks))
    kd_stop("task is ", shown(task), ": the data sets of the model are ", paste0("\"", info$tasks, "\"", collapse = ", "))
  if (!is_table(newdata) && !is_texts(newdata)) kd_stop("newdata is ", shown(class(newdata)[1]), ": use a matrix, a sparse matrix, a data frame or a path")
  set <- read_like(session, model, info, newdata, "samples")
  pointer <- call_c(session, C_run_predict, model, set, task)
  found <- .Call(C_result_info, pointer)
  for (line in unique(vapply(c(session$warnings, found$warnings), in_r, ""))) kd_warn(line)
  out <- found$tasks[[1]]$labels
  if (!is.null(found$classes)) out <- factor(found$classes[out + 1L], levels = c(intersect(levels, found$classes), setdiff(found$classes, levels)))
  advice <- found$tasks[[1]]$advice
  if (length(advice) && !grepl("^0 of ", advice[1])) message(advice[1])
  if (type == "confidence") {
    second <- found$tasks[[1]]$second %||% rep(NA_integer_, length(out))
    if (!is.null(found$classes)) second <- factor(found$classes[second + 1L], levels = base::levels(out))
    return(data.frame(label = out, confidence = found$tasks[[1]]$confidence %||% NA_real_, second = second, row.names = make.unique(found$tasks[[1]]$ids %||% as.character(seq_along(out)))))
  }
  names(out) <- found$tasks[[1]]$ids
  out
}

# A table as a data set, read as those that the model was fitted on.
read_like <- function(session, model, info, x, name) {
  x <- with_missing(x)
  if (is.data.frame(x)) {
    known <- if (is.na(info$columns)) info$features else column_items(info$columns)
    by_name <- !is.na(info$columns) || ncol(x) > length(known) || !is_plain(x) # as many numbers as the model has may be matched by position
    more <- setdiff(names(x), known)
    if (by_name && length(known) && length(more) && length(more) < ncol(x)) {
      kd_warn(paste0(name, ": columns that the model does not know are ignored: ", paste0("'", more, "'", collapse = ", ")))
      x <- as.data.frame(x)[names(x) %in% known]
    }
  }
  if (is_path(x)) {
    set <- read_paths(session, x, if (identical(name, "samples")) NA_character_ else name, list(), FALSE, model = model)$sets[[1]]
  } else if (is_texts(x)) {
    path <- write_texts(x)
    on.exit(unlink(path))
    set <- read_paths(session, path, name, list(text_column = "text"), TRUE, model = model)$sets[[1]]
  } else if (is.data.frame(x) && (!is.na(info$columns) || !is_plain(x))) {
    set <- read_frame(session, x, name, list(), model)[[1]]
  } else {
    set <- table_set(session, x, name)
  }
  owned(session, list(set))
  set
}

#' Add data sets to a finished result
#'
#' Clusters or labels further data sets together with the samples that a model keeps.
#' The old data are not needed, and existing clusters keep their numbers.
#'
#' @param model A result of [kd_cluster()] or [kd_transfer()] with method `auto` and
#'   `model = TRUE`, or a model that [kd_load()] returns.
#' @param x The new data sets, as for [kd_cluster()]. They are read as the tables that
#'   the model was fitted on. Their names must differ from those of the model.
#' @param k Number of clusters of the new data sets, old and new clusters together. The
#'   default is that of the model.
#' @param new_clusters Which clusters get new numbers: those that probably continue no
#'   cluster of the model (`"auto"`), also doubtful ones (`"yes"`), or none (`"no"`).
#' @inheritParams kd_cluster
#' @return An object of the class `kindred` with the new data sets. Its model, which
#'   [kd_save()] saves, has the data sets of `model` and the new ones; after a
#'   transfer, the sources and the new targets.
#' @seealso [kd_save()], [predict()][predict.kindred]
#' @examples
#' sets <- kd_generate("blobs", k = 3, tasks = 3, samples = 60, seed = 1)
#' fit <- kd_cluster(sets[1:2], k = 3, model = TRUE, map = FALSE)
#' more <- kd_into(fit, sets[3])
#' table(labels(more)[[1]])
#' @export
kd_into <- function(model, x, k = NULL, new_clusters = c("auto", "yes", "no"), ..., map = TRUE, model_size = NULL,
                    model_without_samples = FALSE, seed = 1, threads = NULL, time_limit = NULL, max_memory = NULL, progress = FALSE) {
  no_more(list(...), names(formals(kd_into)))
  new_clusters <- match.arg(new_clusters)
  session <- session_open(seed, threads, time_limit, max_memory, progress)
  on.exit(session_close(session))
  levels <- if (inherits(model, "kindred")) levels(model$labels[[1]])
  pointer <- model_of(session, model)
  info <- .Call(C_model_info, pointer)
  all <- .Call(C_algorithms)
  algorithm <- all[[match(info$method, vapply(all, `[[`, "", "id"))]]
  command <- algorithm$family
  tables <- as_tables(x, "x")
  sets <- Map(function(table, name, i) {
    fallback <- if (inherits(table, "kd_data")) table$name else if (is_path(table)) NA_character_ else paste0("task", length(info$tasks) + i)
    read_like(session, pointer, info, table, if (is.na(name)) fallback else name)
  }, tables$tables, tables$names, seq_along(tables$tables))
  infos <- lapply(sets, function(set) .Call(C_data_info, set))
  names <- vapply(infos, `[[`, "", "name")
  check_twice(names)
  how <- list(into = pointer, map = flag(map, "map"), model = TRUE,
              options = option_words(method = algorithm$id, new_clusters = if (command == "cluster") new_clusters, model_size = model_size,
                                     model_without_samples = flag(model_without_samples, "model_without_samples"),
                                     clusters = if (command == "cluster") clusters_word(k, names)))
  if (command == "transfer") {
    if (!is.null(k)) kd_stop("k is ", shown(k), ", but the model is one of kd_transfer(), whose classes are those of the source")
    result <- call_c(session, C_run_transfer, list(), unname(sets), list(), list(), how, keeps = TRUE)
  } else {
    result <- call_c(session, C_run_cluster, unname(sets), how, keeps = TRUE)
  }
  single <- is_table(x) && length(sets) == 1
  finish(session, new_fit(result, command, infos, seq_along(sets), single, levels, match.call(), into = TRUE))
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
