# Transfer of labels. SPDX-License-Identifier: BSD-3-Clause

#' Label a data set with the classes of another one
#'
#' @param source The labelled data sets: a table or a list of tables, as for
#'   [kd_cluster()]. A `SingleCellExperiment` or `Seurat` object is a table whose
#'   samples are in columns.
#' @param labels The classes of the samples of the source: a factor or vector, or
#'   a list of them if there are several sources. `NA` means unknown. Leave it out
#'   if `label_column` names the column with the classes. For a
#'   `SingleCellExperiment` or `Seurat` object it may be the name of a column of
#'   the cells' data.
#' @param target The data sets to label.
#' @param bridges Unlabelled data sets between source and target, for methods that
#'   use them.
#' @param views The samples of the bridges in the features of the target, if
#'   source and target have no features in common.
#' @param probabilities Also compute class probabilities. They are calibrated on
#'   samples of the source that are held out in three additional fits.
#' @param ask Method `auto` only: choose this number of samples of each target for a
#'   person to label next; see [kd_ask()].
#' @param target_labels Known classes of the samples of the first target, which stay
#'   fixed: a vector or factor with `NA` where the class is unknown, the data frame
#'   of [kd_ask()] with the column `class` filled in, or files that [kd_ask()] wrote.
#' @param explain What explains the classes of the target, as for [kd_cluster()].
#' @param both_views Whether samples are compared by both views. `explain` is then a
#'   list with one entry for each source, followed by one for each target. The
#'   result cannot be saved as a model.
#' @inheritParams kd_cluster
#' @inheritParams kd_cluster.default
#'
#' @return An object of the class `kindred`. `labels(fit)` gives the classes of the
#'   target as a factor with the levels of `labels`, or as a list of factors if
#'   `target` is a list. With `probabilities = TRUE`,
#'   `predict(fit, type = "prob")` gives one row for each sample and one column
#'   for each class. With `auto`, `fit$unlike_source` has the rank of each sample by
#'   how little it resembles the source, from 0 to 1. A high rank does not mean that
#'   a sample belongs to a class that the source lacks.
#' @seealso [kd_cluster()], [kd_evaluate()]
#' @examples
#' sets <- kd_generate("blobs", k = 3, samples = 60, shift = 0.2, rotation = 0, seed = 1)
#' tr <- kd_transfer(sets[[1]], labels(sets[[1]]), sets[[2]], method = "svm", map = FALSE)
#' table(transferred = labels(tr), known = labels(sets[[2]]))
#' @export
kd_transfer <- function(source, labels = NULL, target, method = "auto", options = list(), ..., bridges = NULL, views = NULL,
                        probabilities = FALSE, columns = NULL, rename = NULL, recode = NULL, missing = NULL, na = NULL, decimal = NULL, thousands = NULL, skip_rows = NULL, sheet = NULL,
                        id_column = NULL, label_column = NULL, task_column = NULL, text_column = NULL, texts = NULL, vectors = NULL, weight = NULL,
                        norm = NULL, scale = NULL, features = NULL, top_features = NULL, top_by = NULL, fit_on = NULL,
                        preprocess = "default", features_from = NULL, feature_options = list(), map = TRUE, model = FALSE,
                        model_size = NULL, model_without_samples = FALSE, ask = NULL, target_labels = NULL, explain = NULL,
                        both_views = FALSE, representation = FALSE, seed = 1, threads = NULL,
                        time_limit = NULL, max_memory = NULL, progress = FALSE) {
  no_more(list(...), names(formals(kd_transfer)))
  if (base::missing(target)) kd_stop("target is missing: give the data set to label")
  session <- session_open(seed, threads, time_limit, max_memory, progress)
  on.exit(session_close(session))
  algorithm <- find_method(method, "transfer")
  how <- list(map = flag(map, "map"), representation = flag(representation, "representation"), model = flag(model, "model"),
              options = job_words(algorithm, options, features_from, feature_options, weight = weight, norm = norm, scale = scale, features = features,
                                  top_features = top_features, top_by = top_by, fit_on = fit_on, preprocess = preprocess, ask = ask,
                                  probabilities = flag(probabilities, "probabilities"), model_size = model_size,
                                  model_without_samples = flag(model_without_samples, "model_without_samples")))
  if (is_cells(source) && is.character(labels) && length(labels) == 1 && ncol(source) > 1) labels <- cell_column(source, labels)
  group <- function(x, stem, may_lack) c(as_tables(x, stem), list(stem = stem, may_lack = may_lack))
  reads <- reading(columns, rename, recode, missing, na, decimal, thousands, skip_rows, sheet, id_column, label_column, task_column, text_column, with_vectors(texts, vectors))
  groups <- list(group(source, "source", !is.null(labels)), group(target, "target", TRUE), group(bridges, "bridge", TRUE),
                 group(views, "view", TRUE))
  loaded <- load_groups(session, groups, if (is.null(explain)) reads else without_texts(reads), default_missing(algorithm, "transfer"), !is.null(explain))
  n <- length(groups[[1]]$tables)
  both <- list(sets = c(loaded[[1]]$sets, loaded[[2]]$sets), from = c(loaded[[1]]$from, n + loaded[[2]]$from))
  if (!is.null(explain) && flag(both_views, "both_views")) explain_by(session, both, n + length(groups[[2]]$tables), explain, reads)
  else if (!is.null(explain)) explain_by(session, loaded[[2]], length(groups[[2]]$tables), explain, reads)
  combine(session, both$sets, explain, both_views)
  sources <- loaded[[1]]$sets
  levels <- NULL
  if (!is.null(labels)) {
    labels <- if (is.list(labels)) labels else list(labels)
    if (length(labels) != length(sources))
      kd_stop("labels has length ", length(labels), ", but the number of sources is ", length(sources), ": give one vector for each source")
    for (t in seq_along(sources)) {
      info <- .Call(C_data_info, sources[[t]])
      classes <- if (is.factor(labels[[t]])) labels[[t]] else factor(labels[[t]])
      if (length(classes) != info$dim[1])
        kd_stop(info$name, ": the number of samples is ", info$dim[1], ", but labels has length ", length(classes),
                ": one label for each sample is needed")
      levels <- union(levels, levels(classes))
      call_c(session, C_data_classify, sources[[t]], as.integer(droplevels(classes)), levels(droplevels(classes)))
    }
  } else {
    for (set in sources) {
      info <- .Call(C_data_info, set)
      if (is.null(info$labels)) kd_stop(info$name, " has no classes: give labels or, for data frames and paths, label_column")
      levels <- union(levels, info$classes)
    }
    frames <- Filter(function(x) is.data.frame(x) && isTRUE(label_column %in% names(x)) && is.factor(x[[label_column]]), groups[[1]]$tables)
    given <- unique(unlist(lapply(frames, function(x) base::levels(x[[label_column]]))))
    levels <- c(given, setdiff(levels, given))
  }
  how <- c(how, target_settings(target_labels, .Call(C_data_info, loaded[[2]]$sets[[1]])))
  pointer <- call_c(session, C_run_transfer, sources, loaded[[2]]$sets, loaded[[3]]$sets, loaded[[4]]$sets, how, keeps = TRUE)
  infos <- lapply(loaded[[2]]$sets, function(set) .Call(C_data_info, set))
  single <- is_table(target) && length(infos) == 1
  finish(session, new_fit(pointer, "transfer", infos, loaded[[2]]$from, single, levels, match.call()))
}

# Known classes of the first target in the form of C.
target_settings <- function(labels, info) {
  if (is.null(labels)) return(NULL)
  if (is.data.frame(labels)) {
    if (!all(c("row", "class") %in% names(labels))) kd_stop("target_labels is a data frame without the columns row and class: use that of kd_ask()")
    given <- labels[!is.na(labels$class) & nzchar(as.character(labels$class)), ]
    wrong <- given$row[!given$row %in% seq_len(info$dim[1])]
    if (length(wrong)) kd_stop("target_labels: ", shown(wrong[1]), " is not a row of ", info$name, ": rows are numbered from 1 to ", info$dim[1], status = 20L)
    labels <- rep(NA_character_, info$dim[1])
    labels[given$row] <- as.character(given$class)
  }
  if (is.character(labels) && length(labels) != info$dim[1] && all(file.exists(labels))) return(list(known_files = path.expand(labels)))
  list(known = known_codes(labels, info, "target_labels"))
}

#' Samples that a person should label next
#'
#' [kd_transfer()] with `ask` chooses the samples of a target whose classes would help
#' most. Fill in the column `class` and pass the data frame or the file back as
#' `target_labels`.
#'
#' @param fit A result of [kd_transfer()] with `ask`.
#' @param path CSV file to write; `NULL` returns a data frame.
#' @param dataset Name of the target, if there are several.
#' @param force Replace an existing file.
#' @return A data frame with one row for each sample: its `row` from 1, `id`, an empty
#'   `class`, the classes `suggested` and `second`, and what helps to decide. Or `path`,
#'   invisibly.
#' @seealso [kd_transfer()]
#' @examples
#' sets <- kd_generate("blobs", k = 3, samples = 60, shift = 0.2, rotation = 0, seed = 1)
#' tr <- kd_transfer(sets[[1]], labels(sets[[1]]), sets[[2]], ask = 4, map = FALSE)
#' todo <- kd_ask(tr)
#' todo$class <- as.character(labels(sets[[2]]))[todo$row]
#' tr <- kd_transfer(sets[[1]], labels(sets[[1]]), sets[[2]], target_labels = todo, map = FALSE)
#' @export
kd_ask <- function(fit, path = NULL, dataset = NULL, force = FALSE) {
  check_fit(fit)
  if (!"ask" %in% fit$arrays$name) kd_stop("the fit has chosen no samples to label: use kd_transfer(ask = 10)")
  if (is.null(dataset)) dataset <- fit$datasets[1]
  task <- match(dataset, fit$all_datasets) - 1L
  if (length(task) != 1 || is.na(task)) kd_stop("there is no data set ", shown(dataset), ": the targets are ", paste(fit$datasets, collapse = ", "))
  session <- session_open()
  on.exit(session_close(session))
  file <- if (is.null(path)) tempfile(fileext = ".csv") else path.expand(path)
  call_c(session, C_result_ask, alive(fit), task, file, flag(force, "force"))
  if (!is.null(path)) return(invisible(path))
  on.exit(unlink(file), add = TRUE)
  utils::read.csv(file, check.names = FALSE, colClasses = c(id = "character", class = "character", suggested = "character", second = "character"),
                  encoding = "UTF-8")
}
