# Clustering. SPDX-License-Identifier: BSD-3-Clause

#' Cluster related data sets together
#'
#' Clusters one or more data sets. Methods that treat the data sets together give
#' matching clusters the same number. The labels are those of the command-line
#' program and of the Python package.
#'
#' @param x The data sets: a table, or a list of tables. A table is a numeric
#'   matrix, a sparse matrix of the package Matrix, a data frame, the path of a
#'   file or folder, a character vector of several texts (inside a list), or an
#'   object that [kd_read()] returns. Samples are in rows. The names of the list
#'   are the names of the data sets. Sparse matrices are never made dense. For
#'   `SingleCellExperiment` and `Seurat` objects see [kd_cluster_cells].
#' @param k Number of clusters: one number for all data sets, or one for each
#'   (in order, or by name). `"3-8"` fits every number in this range. `NULL` and
#'   `"auto"` estimate it if the method can, as `auto` and `ec` do.
#' @param method Name of the method; see [kd_methods()].
#' @param options Named list of options of the method, such as
#'   `list(lambda = 0.5)`. `kd_methods("mbc")` lists them.
#' @param columns Columns of data frames and CSV files to use: their names, or a
#'   list of kinds by name, such as `list(code = "category", notes = NULL)`. Kinds
#'   are `number`, `category`, `date`, `id` and `text`; `NULL` skips a column.
#' @param rename Named character vector: new names of columns by old ones.
#' @param missing How to handle missing values of tables: `"error"`, `"zero"`,
#'   `"mean"`, `"median"`, `"drop-row"`, `"drop-column"` or `"keep"`. By default,
#'   methods that support missing values keep them, [kd_transfer()] with `auto`
#'   uses `"mean"`, and others report an error.
#' @param na Texts that also mean a missing value in tables.
#' @param decimal Decimal separator of numbers in text, `"."` or `","`. By default
#'   it is detected.
#' @param id_column,label_column,task_column Columns of tables with the names of
#'   the samples, their known classes, and the data set that each row belongs to.
#'   Row names of matrices and data frames are used as names of samples.
#' @param text_column Count the words of this column of CSV files.
#' @param texts Named list of options for texts, such as `list(min_df = 2)`.
#' @param weight Weighting: `"none"`, `"binary"`, `"log1p"`, `"cpm"`, `"tfidf"` or
#'   `"sqrt"`.
#' @param norm Length of rows: `"none"`, `"l1"` or `"l2"`.
#' @param scale Scaling of columns: `"none"`, `"standard"`, `"minmax"` or `"table"`.
#' @param features How columns of different data sets are matched: `"union"`,
#'   `"intersect"` or `"position"`. By default, by name if all have names.
#' @param top_features Use only this number of features.
#' @param top_by How features are ranked: `"df"`, `"variance"` or `"dispersion"`.
#' @param fit_on Fit weights and scaling on `"all"` data sets together or on
#'   `"each"`.
#' @param preprocess Who chooses `weight`, `norm` and `scale`: `"default"` chooses
#'   by the kind of data unless one of them is given, and `"none"` applies only
#'   what is given.
#' @param features_from Name of a method that learns features on all data sets
#'   first, such as `"msda"` (`kd_methods(family = "features")`).
#' @param feature_options Named list of options of that method.
#' @param pooled Stack all data sets into one and cluster that.
#' @param init Initial labels, from 0: a vector for one data set, or a list.
#' @param quality Also compute scores that need no known classes (in
#'   `summary(fit)$quality`), and how well several data sets mix.
#' @param resamples Number of additional fits that measure the stability for
#'   `quality`. The default is 5; 0 skips them.
#' @param map Also compute a two-dimensional map of the samples, for `plot()` and
#'   the report. `FALSE` saves its time.
#' @param model Check that a model can be saved, and compare its predictions with
#'   the labels.
#' @param seed Seed of all random choices: a whole number from 0.
#' @param threads Number of threads; `NULL` uses all available cores. The result
#'   does not depend on it.
#' @param time_limit Stop after this number of seconds, with the best result so
#'   far.
#' @param max_memory Refuse a job that needs more bytes.
#' @param progress `TRUE` shows the progress; a function is called with a list
#'   for each event and stops the computation if it returns `TRUE`.
#' @param ... Further arguments; unknown ones are an error.
#'
#' @return An object of the class `kindred`. `labels(fit)` gives the clusters,
#'   numbered from 0, as a list with one vector for each data set, or as a vector
#'   for one table. `as.data.frame(fit)` has one row for each sample.
#'   [predict()][predict.kindred] labels new samples. Elements of the object are
#'   described in [kindred-object].
#' @seealso [kd_transfer()], [kd_relate()], [kd_report()], [kd_save()]
#' @examples
#' sets <- kd_generate("blobs", k = 3, samples = 60, seed = 1)
#' fit <- kd_cluster(sets, k = 3, method = "kmeans")
#' fit
#' head(as.data.frame(fit))
#' predict(fit, kd_matrix(sets[[2]])[1:5, ], task = "task2")
#' @export
kd_cluster <- function(x, ...) UseMethod("kd_cluster")

#' @rdname kd_cluster
#' @export
kd_cluster.default <- function(x, k = NULL, method = "auto", options = list(), ..., columns = NULL, rename = NULL, missing = NULL,
                               na = NULL, decimal = NULL, id_column = NULL, label_column = NULL, task_column = NULL,
                               text_column = NULL, texts = NULL, weight = NULL, norm = NULL, scale = NULL, features = NULL,
                               top_features = NULL, top_by = NULL, fit_on = NULL, preprocess = "default", features_from = NULL,
                               feature_options = list(), pooled = FALSE, init = NULL,
                               quality = FALSE, resamples = NULL, map = TRUE, model = FALSE, seed = 1, threads = NULL,
                               time_limit = NULL, max_memory = NULL, progress = FALSE) {
  no_more(list(...), names(formals(kd_cluster.default)))
  session <- session_open(seed, threads, time_limit, max_memory, progress)
  on.exit(session_close(session))
  algorithm <- find_method(method, "cluster")
  how <- c(job_settings(algorithm, options, weight, norm, scale, features, top_features, top_by, fit_on, preprocess), feature_settings(features_from, feature_options),
           list(pooled = flag(pooled, "pooled"), quality = flag(quality, "quality"), map = flag(map, "map"), model = flag(model, "model"),
                resamples = if (is.null(resamples)) 0 else if (whole(resamples, "resamples", 0) == 0) -1 else resamples,
                score = !is.null(label_column)))
  group <- c(as_tables(x, "x"), list(stem = "task", may_lack = FALSE))
  reads <- reading(columns, rename, missing, na, decimal, id_column, label_column, task_column, text_column, texts)
  loaded <- load_groups(session, list(group), reads, default_missing(algorithm, "cluster"))[[1]]
  infos <- lapply(loaded$sets, function(set) .Call(C_data_info, set))
  names <- vapply(infos, `[[`, "", "name")
  check_twice(names)
  how <- c(how, clusters_of(k, names))
  if (!is.null(init)) how$init <- initial_labels(init, infos)
  pointer <- call_c(session, C_run_cluster, loaded$sets, how, keeps = TRUE)
  single <- is_table(x) && length(loaded$sets) == 1
  finish(session, new_fit(pointer, "cluster", infos, loaded$from, single, NULL, match.call()))
}

check_twice <- function(names) {
  twice <- names[duplicated(names)]
  if (length(twice)) kd_stop("two data sets are called '", twice[1], "': use a list with different names")
}

flag <- function(value, name) {
  if (!is.logical(value) || length(value) != 1 || is.na(value)) kd_stop(name, " is ", shown(value), ": use TRUE or FALSE")
  value
}

whole <- function(value, name, least) {
  if (!is.numeric(value) || length(value) != 1 || is.na(value) || value != floor(value) || value < least || value > .Machine$integer.max)
    kd_stop(name, " is ", shown(value), ": use a whole number of at least ", least)
  as.integer(value)
}

# The index, from 0, of a value of an option of preprocessing.
choice <- function(value, name, option = gsub("_", "-", name)) {
  if (is.null(value)) return(0)
  values <- .Call(C_values, option)
  if (!is.character(value) || length(value) != 1 || !value %in% values)
    kd_stop(name, " is ", shown(value), ": use one of ", paste0("\"", values, "\"", collapse = ", "), status = 11L)
  match(value, values) - 1
}

# Preprocessing in the form of C. As on the command line, the caller chooses if one of weight, norm and scale is given, even as "none".
prep_settings <- function(weight, norm, scale, features, top_features, top_by, fit_on, preprocess) {
  if (identical(preprocess, "default") && !(is.null(weight) && is.null(norm) && is.null(scale))) preprocess <- "none"
  list(weight = choice(weight, "weight"), norm = choice(norm, "norm"), scale = choice(scale, "scale"),
       features = choice(features, "features"), top_features = if (is.null(top_features)) 0 else as.double(whole(top_features, "top_features", 1)),
       top_by = choice(top_by, "top_by"), fit_on = choice(fit_on, "fit_on"), preprocess = choice(preprocess, "preprocess"))
}

method_options <- function(options) {
  if (!is.list(options)) options <- as.list(options)
  if (length(options) && (is.null(names(options)) || !all(nzchar(names(options)))))
    kd_stop("options has elements without a name: use a named list, such as list(max_iter = 50)", status = 11L)
  lapply(stats::setNames(names(options), names(options)), function(name) {
    value <- options[[name]]
    if (is.numeric(value) && length(value) && !anyNA(value)) return(as.double(value))
    if ((is.logical(value) || is.character(value)) && length(value) == 1 && !is.na(value)) return(value)
    kd_stop("option ", name, " is ", shown(value), ": use a number, TRUE or FALSE, or one text", status = 11L)
  })
}

job_settings <- function(algorithm, options, ...) c(list(method = algorithm$id, options = method_options(options)), prep_settings(...))

feature_settings <- function(method, options) {
  if (!is.null(method)) list(features_from = find_method(method, "features")$id, feature_options = method_options(options))
}

# The number of clusters in the form of C: k and, for ranges, k_to; 0 estimates it.
clusters_of <- function(k, names) {
  if (is.null(k)) return(list(k = 0L))
  if (!is.null(names(k))) {
    wrong <- c(setdiff(names(k), names), setdiff(names, names(k)))
    if (length(wrong))
      kd_stop("k has the names ", paste(names(k), collapse = ", "), ", but the data sets are ", paste(names, collapse = ", "),
              ": one number for each data set is needed")
    k <- k[names]
  }
  k <- as.list(k)
  if (length(k) != 1 && length(k) != length(names))
    kd_stop("k has length ", length(k), ", but the number of data sets is ", length(names), ": use one number for all, or one for each")
  ends <- lapply(unname(k), function(one) {
    if (is.character(one) && length(one) == 1 && grepl("^[0-9]+-[0-9]+$", one)) {
      ends <- as.integer(strsplit(one, "-", fixed = TRUE)[[1]])
      if (ends[1] >= 1 && ends[2] >= ends[1] && ends[2] - ends[1] < 64) return(ends)
    } else if (identical(one, "auto")) {
      return(c(0L, NA))
    } else if (is.numeric(one) && length(one) == 1 && !is.na(one) && one == floor(one) && one >= 1 && one <= .Machine$integer.max) {
      return(c(as.integer(one), NA))
    }
    kd_stop("k is ", shown(one), ": use a whole number of at least 1, a range of at most 64 numbers such as \"3-8\", or \"auto\"")
  })
  first <- vapply(ends, `[`, 0L, 1L)
  last <- vapply(ends, `[`, 0L, 2L)
  if (all(is.na(last))) return(list(k = first))
  if (any(first == 0L)) kd_stop("a range of k and \"auto\" cannot be combined: give a number or a range for every data set")
  list(k = first, k_to = ifelse(is.na(last), first, last))
}

initial_labels <- function(init, infos) {
  if (!is.list(init)) init <- list(init)
  sizes <- vapply(infos, function(info) info$dim[1], 0L)
  if (!identical(lengths(init, use.names = FALSE), sizes))
    kd_stop("init has ", paste(lengths(init), collapse = ", "), " labels for data sets of ", paste(sizes, collapse = ", "),
            " samples: one label for each sample is needed")
  lapply(unname(init), function(labels) {
    if (!is.numeric(labels) || anyNA(labels)) kd_stop("init has labels that are no numbers: use whole numbers from 0")
    as.integer(labels)
  })
}

# Issues warnings. After an interrupt, signals it with the best result so far.
finish <- function(session, fit) {
  if (session$interrupted) kd_interrupt(fit)
  for (line in unique(vapply(c(session$warnings, fit$warnings), in_r, ""))) kd_warn(line)
  if (fit$stop %in% c("max_iter", "time") && !fit$complete)
    kd_warn(if (fit$stop == "time") paste0(fit$method, " reached the time limit before it converged: increase time_limit for a better result")
            else paste0(fit$method, " reached max_iter before it converged: increase max_iter for a better result"))
  fit
}
