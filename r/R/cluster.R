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
#'   (in order, or by name). `"3-8"` fits every number in this range, and so does
#'   `3:8` unless there are six data sets; [kd_cut()] chooses one of the results.
#'   `NULL` and `"auto"` estimate it if the method can, as `auto` and `ec` do.
#' @param method Name of the method; see [kd_methods()].
#' @param options Named list of options of the method, such as
#'   `list(lambda = 0.5)`. `kd_methods("mbc")` lists them.
#' @param columns Columns of data frames and CSV files to use: their names, or a
#'   list of kinds by name, such as `list(code = "category", notes = NULL)`. Kinds
#'   are `number`, `category`, `date`, `id` and `text`; `NULL` skips a column.
#' @param rename Named character vector: new names of columns by old ones.
#' @param recode New values of columns by old ones, such as
#'   `list(smoker = c(ja = "yes"))`, `NA` for a missing value, or a CSV file with
#'   column, old and new. Models keep it and `rename`.
#' @param missing How to handle missing values of data frames, dense matrices and
#'   CSV files: `"error"`, `"zero"`, `"mean"`, `"median"`, `"drop-row"`,
#'   `"drop-column"` or `"keep"`. By default,
#'   methods that support missing values keep them, [kd_transfer()] with `auto`
#'   uses `"mean"`, and others report an error.
#' @param na Texts that also mean a missing value in tables.
#' @param decimal Decimal separator of numbers in text, `"."` or `","`. By default
#'   it is detected.
#' @param thousands What separates thousands in numbers in text: `"."`, `","`, `"'"`,
#'   `"space"` or `"none"`. By default it is detected.
#' @param skip_rows Number of rows above the header of a file. By default titles
#'   above the header are found.
#' @param sheet Sheet of a workbook; `"all"`: each sheet is a data set. By default it
#'   is the first.
#' @param id_column,label_column,task_column Columns of tables with the names of
#'   the samples, their known classes, and the data set that each row belongs to.
#'   Row names of matrices and data frames are used as names of samples.
#' @param text_column Count the words of this column of data frames, CSV and Excel files.
#' @param texts Named list of options for texts, such as `list(min_df = 2)`.
#' @param vectors File of word vectors (word2vec text, GloVe, fastText `.vec`). If
#'   texts are short, they are compared by the means of their vectors and explained
#'   by their words.
#' @param weight Weighting: `"none"`, `"binary"`, `"log1p"`, `"cpm"`, `"tfidf"` or
#'   `"sqrt"`.
#' @param norm Length of rows: `"none"`, `"l1"` or `"l2"`.
#' @param scale Scaling of columns: `"none"`, `"standard"`, `"minmax"` or `"table"`.
#' @param features How columns of different data sets are matched: `"union"`,
#'   `"intersect"` or `"position"`. By default, by name if all have names, genes by those that all have.
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
#'   `summary(fit)$quality`).
#' @param resamples Number of additional fits that measure the stability for
#'   `quality`. The default is 5; 0 skips them.
#' @param map Also compute a two-dimensional map of the samples, for `plot()` and
#'   the report. `FALSE` saves its time.
#' @param representation Also compute coordinates of the samples in a space that all data
#'   sets share (`fit$representation`).
#' @param model Check that a model can be saved, and compare its predictions with
#'   the labels. With `auto`, the model then keeps samples, so that data sets can be
#'   added to it ([kd_into()]) and new samples are labelled by a vote.
#' @param model_size With `model`: keep at most this number of samples of each data
#'   set. The default is 2000.
#' @param model_without_samples With `model`: keep means and covariances of the
#'   clusters instead of samples.
#' @param known Known classes of some samples, for the methods `auto` and `kmeans`: a
#'   vector or factor with one class for each sample, a vector whose names are the
#'   ids of some samples, or a file with one class per line or with id and class.
#'   `NA` and `"?"` mean unknown. For several data sets, a list with one entry for
#'   each (in order, or by name), `NULL` if no class is known, or a vector with ids
#'   of any of them. Known samples keep their class and name the clusters
#'   (`fit$names`). With `k = "auto"`, k is their number unless another number is
#'   clearly better.
#' @param known_column Instead of `known`: the column of tables that has the known
#'   classes, empty if unknown. It is not a feature.
#' @param explain What explains the clusters instead of the features that samples are
#'   compared by: a character vector of texts, a data frame, a matrix with column
#'   names, or a path. For several data sets, a list with one entry for each (in
#'   order, or by name), `NULL` if there is none. Rows are matched by names if both
#'   have them, otherwise by position. `text_column` and `texts` then apply to it.
#' @param both_views Whether samples are compared by both: `x` and `explain`. The
#'   result cannot be saved as a model.
#' @param seed Seed of all random choices: a whole number from 0.
#' @param threads Number of threads; `NULL` uses all available cores. The result
#'   does not depend on it.
#' @param time_limit Stop after this number of seconds, with the best result so
#'   far.
#' @param max_memory Memory limit in bytes; a job that allocates more is an error.
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
kd_cluster.default <- function(x, k = NULL, method = "auto", options = list(), ..., columns = NULL, rename = NULL, recode = NULL, missing = NULL,
                               na = NULL, decimal = NULL, thousands = NULL, skip_rows = NULL, sheet = NULL, id_column = NULL, label_column = NULL, task_column = NULL,
                               text_column = NULL, texts = NULL, vectors = NULL, weight = NULL, norm = NULL, scale = NULL, features = NULL,
                               top_features = NULL, top_by = NULL, fit_on = NULL, preprocess = "default", features_from = NULL,
                               feature_options = list(), pooled = FALSE, init = NULL,
                               quality = FALSE, resamples = NULL, map = TRUE, model = FALSE, model_size = NULL,
                               model_without_samples = FALSE, known = NULL, known_column = NULL,
                               explain = NULL, both_views = FALSE, representation = FALSE, seed = 1, threads = NULL, time_limit = NULL, max_memory = NULL, progress = FALSE) {
  no_more(list(...), names(formals(kd_cluster.default)))
  session <- session_open(seed, threads, time_limit, max_memory, progress)
  on.exit(session_close(session))
  algorithm <- find_method(method, "cluster")
  if (!is.null(known_column) && (!is.null(known) || !is.null(label_column)))
    kd_stop("known_column has no effect with ", if (is.null(known)) "label_column" else "known", ": remove one of them")
  how <- list(known_in_data = !is.null(known_column), map = flag(map, "map"), representation = flag(representation, "representation"), model = flag(model, "model"), score = !is.null(label_column),
              options = job_words(algorithm, options, features_from, feature_options, weight = weight, norm = norm, scale = scale, features = features,
                                  top_features = top_features, top_by = top_by, fit_on = fit_on, preprocess = preprocess, pooled = flag(pooled, "pooled"),
                                  quality = flag(quality, "quality"), resamples = resamples, model_size = model_size,
                                  model_without_samples = flag(model_without_samples, "model_without_samples")))
  group <- c(as_tables(x, "x"), list(stem = "task", may_lack = !is.null(known_column)))
  reads <- reading(columns, rename, recode, missing, na, decimal, thousands, skip_rows, sheet, id_column, label_column %||% known_column, task_column, text_column, with_vectors(texts, vectors))
  loaded <- load_groups(session, list(group), if (is.null(explain)) reads else without_texts(reads), default_missing(algorithm, "cluster"), !is.null(explain))[[1]]
  if (!is.null(explain)) explain_by(session, loaded, length(group$tables), explain, reads)
  combine(session, loaded$sets, explain, both_views)
  infos <- lapply(loaded$sets, function(set) .Call(C_data_info, set))
  names <- vapply(infos, `[[`, "", "name")
  check_twice(names)
  k_word <- clusters_word(k, names)
  how$options <- c(how$options, option_words(clusters = k_word))
  if (!is.null(init)) how$init <- initial_labels(init, infos)
  how <- c(how, known_settings(known, infos))
  pointer <- call_c(session, C_run_cluster, loaded$sets, how, keeps = TRUE)
  single <- is_table(x) && length(loaded$sets) == 1
  fit <- new_fit(pointer, "cluster", infos, loaded$from, single, NULL, call_of_generic(match.call()))
  fit$k_from <- if (is.null(k) || grepl("auto", k_word)) "estimated" else if (grepl("-", k_word)) "suggested" else "given"
  finish(session, fit)
}

# The call of the function that a user calls, so that update() can repeat it.
call_of_generic <- function(call) {
  call[[1]] <- quote(kd_cluster)
  call
}

# Known classes in the form of C: a vector as codes from 0 and their names.
known_codes <- function(values, info, what) {
  if (length(values) != info$dim[1])
    kd_stop(what, " of ", info$name, " has length ", length(values), ", but the number of samples is ", info$dim[1], ": use NA for unknown classes")
  values <- as.character(values)
  values[is.na(values) | values == ""] <- "?"
  names <- sort(unique(values), method = "radix")
  list(values = match(values, names) - 1L, names = names)
}

# The classes of a vector whose names are ids, as one vector for each data set. Rows of data without ids are numbered from 1.
known_by_id <- function(known, infos) {
  ids <- lapply(infos, function(info) info$ids %||% as.character(seq_len(info$dim[1])))
  all <- unlist(ids)
  strange <- setdiff(names(known), all)
  if (length(strange)) kd_stop("known: no sample is called ", paste0("'", utils::head(strange, 3), "'", collapse = ", "),
                               if (length(strange) > 3) paste(" and", length(strange) - 3, "more"), "; the data have ids such as '", all[1], "'", status = 20L)
  twice <- names(known)[names(known) %in% all[duplicated(all)]]
  if (length(twice)) kd_stop("known: several samples are called '", twice[1], "'", status = 20L)
  lapply(ids, function(own) as.character(known)[match(own, names(known))])
}

# Whether the names of a vector are ids: always if it does not have one class for each sample, and otherwise if one of them is a sample.
has_ids <- function(one, info) !is.null(names(one)) && !is.list(one) && (length(one) != info$dim[1] || any(names(one) %in% info$ids))

known_settings <- function(known, infos) {
  if (is.null(known)) return(NULL)
  names <- vapply(infos, `[[`, "", "name")
  if (!is.list(known) && length(infos) > 1 && !is.null(names(known))) known <- known_by_id(known, infos)
  if (is_path(known) && length(infos) > 1) known <- rep(list(known), length(infos)) # a file of ids may be that of several
  if (!is.list(known)) known <- list(known)
  if (!is.null(names(known))) {
    strange <- setdiff(names(known), names)
    if (length(strange)) kd_stop("known has classes of '", strange[1], "', but the data sets are ", paste(names, collapse = ", "))
    known <- lapply(stats::setNames(nm = names), function(name) known[[name]])
  }
  if (length(known) != length(infos))
    kd_stop("known has length ", length(known), ", but the number of data sets is ", length(infos), ": one entry for each is needed, NULL if no class is known")
  path <- function(one, info) is_path(one) && is.null(names(one)) && (info$dim[1] > 1 || file.exists(one))
  paths <- mapply(path, known, infos)
  if (all(paths | vapply(known, is.null, NA)))
    return(list(known_files = vapply(known, function(one) if (is.null(one)) "?" else path.expand(one), "", USE.NAMES = FALSE)))
  if (any(paths)) kd_stop("known has a file for some data sets and classes for others: use one kind for all")
  codes <- function(one, info) {
    if (has_ids(one, info)) one <- known_by_id(one, list(info))[[1]]
    if (!is.null(one)) known_codes(one, info, "known")
  }
  list(known = unname(Map(codes, known, infos)))
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

# A value as on the command line.
word <- function(value, name) {
  if (!(is.character(value) || is.logical(value) || is.numeric(value)) || !length(value) || anyNA(value))
    kd_stop(name, " is ", shown(value), ": use a number, TRUE or FALSE, or one text", status = 11L)
  short <- if (is.numeric(value)) sprintf("%.15g", value) else if (is.logical(value)) tolower(value) else value
  if (is.numeric(value)) short <- ifelse(as.numeric(short) == value, short, sprintf("%.17g", value))
  paste(short, collapse = ",")
}

# Options as on the command line: a character vector by name. NULL is the default; a list has the values of an option that repeats.
option_words <- function(...) {
  given <- Filter(Negate(is.null), list(...))
  words <- Map(function(value, name) if (is.list(value)) unlist(value) else word(value, name), given, names(given))
  stats::setNames(as.character(unlist(words)), rep(gsub("_", "-", names(given)), lengths(words)))
}

# Options of a method as NAME=VALUE.
method_words <- function(options) {
  options <- as.list(options)
  if (length(options) && (is.null(names(options)) || !all(nzchar(names(options)))))
    kd_stop("options has elements without a name: use a named list, such as list(max_iter = 50)", status = 11L)
  Map(function(value, name) paste0(name, "=", word(value, paste("option", name))), options, names(options))
}

# learner, learner_options: features_from and its options; other names, because `features` would match these.
job_words <- function(algorithm, options, learner, learner_options, ...)
  option_words(method = algorithm$id, set = method_words(options), features_from = learner, features_set = if (!is.null(learner)) method_words(learner_options), ...)

# The number of clusters as on the command line.
clusters_word <- function(k, names) {
  if (is.null(k)) return(NULL)
  if (!is.null(names(k))) {
    wrong <- c(setdiff(names(k), names), setdiff(names, names(k)))
    if (length(wrong))
      kd_stop("k has the names ", paste(names(k), collapse = ", "), ", but the data sets are ", paste(names, collapse = ", "),
              ": one number for each data set is needed")
    k <- k[names]
  }
  if (is.integer(k) && length(k) > 1 && length(k) != length(names) && !anyNA(k) && all(diff(k) == 1)) return(paste0(k[1], "-", k[length(k)]))
  paste(vapply(as.list(k), word, "", "k"), collapse = ",")
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
