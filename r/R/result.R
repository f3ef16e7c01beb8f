# Results. SPDX-License-Identifier: BSD-3-Clause

#' Results of kindred
#'
#' [kd_cluster()] and [kd_transfer()] return objects of the class `kindred`. The
#' labels and what belongs to them are plain vectors, which `saveRDS()` keeps.
#' `predict()`, [kd_report()], [kd_save()], [kd_json()] and [kd_array()] also need
#' the fitted model, which `saveRDS()` does not keep: save it with [kd_save()].
#'
#' @section Elements:
#' \describe{
#'   \item{`datasets`}{names of the data sets; for a transfer, of the targets}
#'   \item{`labels`, `confidence`, `second`, `ids`, `rows`}{lists with one vector
#'     for each data set: clusters from 0 or classes, the confidence of each label
#'     from 0 to 1, the second-best label, the names of the samples, and the rows of
#'     the table that they come from}
#'   \item{`numbers`}{list with the number of each cluster of each data set, by which
#'     `labels` name it: rows of arrays with one row per cluster ([kd_array()]) are in
#'     this order. Equal numbers mean the same cluster in all data sets}
#'   \item{`k`, `k_from`, `k_evidence`}{number of clusters of each data set; whether it is
#'     `"given"`, `"estimated"`, `"suggested"` (of a range) or `"chosen"` (by [kd_cut()]); and
#'     what supports an estimate}
#'   \item{`levels`}{for a range of `k`: the labels for each number of clusters; see
#'     [kd_cut()]}
#'   \item{`names`}{what the clusters of each data set are called, by number: the name that
#'     [kd_rename()] gave, the known class, or the title; `NA` if there is none. The name of
#'     label `l` is `names[l + 1]`}
#'   \item{`match`}{the probability that each cluster is the same group in all data sets that have it,
#'     by number; `NA` for a cluster of one data set}
#'   \item{`representation`}{with `representation = TRUE`: coordinates of the samples in a space that all
#'     data sets share, up to 50 columns}
#'   \item{`unlike_source`}{transfer with `auto`: the rank of each sample by how little
#'     it resembles the source, from 0 to 1}
#'   \item{`map`}{coordinates of the samples}
#'   \item{`probabilities`}{class probabilities, if they were requested}
#'   \item{`advice`, `warnings`}{texts}
#'   \item{`sharing`}{method `auto` on several data sets: what each has from the others:
#'     `from`, the data set whose clusters it takes over; `apart`, the distance from the
#'     nearest one (0.5: alike, 1: apart); `moved`, the number of samples that would be
#'     in another cluster in a run alone; and `reason`}
#'   \item{`relatedness`}{how much each data set draws on each other one, or `NULL`}
#'   \item{`method`, `objective`, `stop`, `iterations`, `complete`}{the method, the
#'     objective after each iteration, and why the fit ended}
#' }
#'
#' @param object,x A result of [kd_cluster()] or [kd_transfer()].
#' @param row.names,optional Ignored.
#' @param ... Further arguments for other methods; ignored.
#' @return `labels()` returns the clusters or classes, `as.data.frame()` a data
#'   frame with the columns `id`, `dataset`, `cluster` or `class`, `confidence`,
#'   `second`, `row` and, if available, `name` (of the cluster)
#'   and `unlike_source`. `summary()` returns a list of tables.
#' @name kindred-object
#' @examples
#' sets <- kd_generate("blobs", k = 3, samples = 60, seed = 1)
#' fit <- kd_cluster(sets, k = 3, method = "kmeans")
#' labels(fit)$task1
#' summary(fit)
#' plot(fit)
NULL

map_half <- 65535 / 2

# The object for a result. infos: the data sets that were labelled; from: the index of the table of each.
# into: they were added to a model.
new_fit <- function(pointer, command, infos, from, single, levels, call, into = FALSE) {
  found <- .Call(C_result_info, pointer)
  tasks <- if (command == "transfer" || into) utils::tail(found$tasks, length(infos)) else found$tasks
  first <- length(found$tasks) - length(tasks)
  names <- vapply(tasks, `[[`, "", "name")
  pick <- function(what) stats::setNames(lapply(tasks, `[[`, what), names)
  known <- !is.null(found$classes)
  classes <- c(intersect(levels, found$classes), setdiff(found$classes, levels))
  as_class <- function(codes) {
    if (is.null(codes) || !known) return(codes)
    factor(found$classes[codes + 1L], levels = c(classes, setdiff(levels, classes)))
  }
  rows <- lapply(infos, function(info) {
    if (!is.null(info$origin)) info$origin + 1L else setdiff(seq_len(info$dim[1] + length(info$left_out)), info$left_out)
  })
  if (length(rows) != length(tasks)) rows <- lapply(tasks, function(task) seq_len(task$dim[1])) # pooled
  maps <- lapply(pick("map"), function(map) if (!is.null(map)) data.frame(x = (map[, 1] - map_half) / map_half * 10,
                                                                             y = (map_half - map[, 2]) / map_half * 10, sample = as.integer(map[, 3])))
  probabilities <- Map(function(p, ids) if (!is.null(p)) {
    dimnames(p) <- list(ids, found$classes)
    if (known) p[, classes, drop = FALSE] else p
  }, pick("probabilities"), pick("ids"))
  unlike <- if ("unlike_source" %in% found$arrays$name)
    stats::setNames(lapply(seq_along(tasks), function(t) .Call(C_result_named_array, pointer, "unlike_source", first + t - 1L)), names)
  structure(class = "kindred", list(
    command = command, method = found$method, datasets = names, single = single, from = from, classes = if (known) classes,
    labels = lapply(pick("labels"), as_class), confidence = pick("confidence"), confidence_from = pick("from"),
    second = lapply(pick("second"), as_class), ids = pick("ids"), rows = stats::setNames(rows, names),
    k = vapply(tasks, `[[`, 0L, "k"), numbers = pick("numbers"), names = if (!known) pick("names"), match = if (!known) pick("match"),
    representation = if (!all(vapply(pick("representation"), is.null, NA))) pick("representation"), k_from = "given", k_evidence = k_evidence(found$texts), dim = do.call(rbind, pick("dim")), map = maps, probabilities = probabilities,
    advice = lapply(pick("advice"), in_r), sharing = pick("sharing"), relatedness = if (!is.null(found$relatedness)) matrix(found$relatedness, nrow(found$relatedness),
      dimnames = list(vapply(found$tasks, `[[`, "", "name"), vapply(found$tasks, `[[`, "", "name"))),
    levels = level_labels(found$levels, names, "labels"), level_details = level_labels(found$levels, names, NULL),
    unlike_source = unlike,
    objective = found$objective, stop = found$stop, iterations = found$iterations,
    complete = found$complete, warnings = in_r(found$warnings), arrays = found$arrays,
    all_datasets = vapply(found$tasks, `[[`, "", "name"), call = call, pointer = pointer))
}

# What the method reports about the number of clusters: of all data sets together, or of each.
k_evidence <- function(texts) {
  texts <- texts[grepl("^k_evidence(\\.|$)", names(texts))]
  paste0(sub("^k_evidence\\.?(.*)$", "\\1", names(texts)), ifelse(names(texts) == "k_evidence", "", ": "), texts)
}

# The number of clusters in words, unless it was given.
k_lines <- function(x) {
  if (!isTRUE(x$k_from != "given")) return(character())
  number <- paste(unique(x$k), collapse = ",")
  others <- setdiff(names(x$levels), number)
  c(paste0("Number of clusters: ", number, " (", x$k_from, if (length(others)) paste0("; kd_cut() also has ", paste(others, collapse = ", ")), ")"), x$k_evidence)
}

# The labels at each level, or everything about it (what = NULL).
level_labels <- function(levels, names, what) {
  if (is.null(levels)) return(NULL)
  out <- lapply(levels, function(level) if (is.null(what)) lapply(level, stats::setNames, names) else stats::setNames(level[[what]], names))
  stats::setNames(out, vapply(levels, function(level) paste(unique(level$k), collapse = ","), ""))
}

# The result in memory, or an error that says how to keep it.
alive <- function(fit) {
  if (!.Call(C_is_alive, fit$pointer))
    kd_stop("the fitted model is no longer in memory, because saveRDS() and new sessions do not keep it: save it with kd_save() and read it with kd_load()")
  fit$pointer
}

#' @rdname kindred-object
#' @export
labels.kindred <- function(object, ...) if (object$single) object$labels[[1]] else object$labels

#' @rdname kindred-object
#' @export
as.data.frame.kindred <- function(x, row.names = NULL, optional = FALSE, ...) {
  column <- if (is.null(x$classes)) "cluster" else "class"
  named <- !all(is.na(unlist(x$names)))
  parts <- lapply(seq_along(x$datasets), function(t) {
    n <- x$dim[t, 1]
    or_na <- function(value, otherwise = NA) if (is.null(value)) rep(otherwise, n) else value
    ids <- x$ids[[t]]
    part <- data.frame(id = if (is.null(ids)) as.character(x$rows[[t]]) else ids, dataset = x$datasets[t],
                       label = or_na(x$labels[[t]]), confidence = or_na(x$confidence[[t]], NA_real_), second = or_na(x$second[[t]]),
                       row = x$rows[[t]])
    names(part)[3] <- column
    called <- x$names[[t]]
    if (named) part$name <- called[match(part$cluster + 1L, seq_along(called))]
    if (!is.null(x$unlike_source[[t]])) part$unlike_source <- x$unlike_source[[t]]
    for (level in names(x$levels)) part[[paste0("cluster_", level)]] <- x$levels[[level]][[t]]
    part
  })
  out <- do.call(rbind, parts)
  out$dataset <- factor(out$dataset, levels = x$datasets)
  rownames(out) <- NULL
  out
}

#' @rdname kindred-object
#' @export
print.kindred <- function(x, ...) {
  what <- if (x$command == "transfer") "Transfer of labels" else "Clustering"
  cat(what, " by ", x$method, ": ", count_of(length(x$datasets), "data set"), ", ", count_of(sum(x$dim[, 1]), "sample"), "\n", sep = "")
  sizes <- size_table(x)
  print(sizes)
  if (length(k_lines(x))) cat(k_lines(x), sep = "\n")
  lines <- unlist(lapply(x$datasets, function(name) head(x$advice[[name]], 1)))
  if (length(lines)) cat(lines, sep = "\n")
  if (!isTRUE(x$complete)) cat("stopped: ", x$stop, "\n", sep = "")
  invisible(x)
}

count_of <- function(n, what) paste0(format(n, big.mark = ","), " ", what, if (n != 1) "s" else "")

# Samples by data set and label.
size_table <- function(x) {
  frame <- as.data.frame(x)
  label <- if (is.null(x$classes)) factor(frame$cluster) else frame$class
  table(dataset = frame$dataset, label, dnn = c("dataset", if (is.null(x$classes)) "cluster" else "class"), useNA = "ifany")
}

#' @rdname kindred-object
#' @export
summary.kindred <- function(object, ...) {
  out <- list(command = object$command, method = object$method, sizes = size_table(object), k = k_lines(object),
              advice = lapply(object$advice, function(lines) lines[!startsWith(lines, "k = ")]),
              confidence = vapply(object$confidence, function(v) if (is.null(v)) NA_real_ else mean(v, na.rm = TRUE), 0),
              attention = c(if (!isTRUE(object$complete)) paste("stopped:", object$stop), object$warnings))
  out$datasets <- data.frame("data set" = object$datasets, samples = object$dim[, 1], confidence = out$confidence,
                             "compared with alone" = vapply(object$sharing, compared, ""), row.names = NULL, check.names = FALSE)
  out$clusters <- data.frame(label = colnames(out$sizes), unclass(t(out$sizes)), row.names = NULL, check.names = FALSE)
  names(out$clusters)[1] <- names(dimnames(out$sizes))[2]
  if (.Call(C_is_alive, object$pointer)) {
    session <- session_open()
    on.exit(session_close(session))
    json <- call_c(session, C_result_parsed, object$pointer)
    tasks <- Filter(function(task) task$name %in% object$datasets, json$tasks)
    called <- unlist(lapply(tasks, function(task) lapply(task$clusters, function(cluster)
      stats::setNames(cluster$name %||% cluster$title %||% NA_character_, cluster$class %||% cluster$number))))
    if (!all(is.na(called))) out$clusters <- cbind(out$clusters, name = unname(called[match(out$clusters[[1]], names(called))]))
    out$features <- do.call(rbind, lapply(tasks, function(task) do.call(rbind, lapply(task$clusters, function(cluster) {
      features <- cluster$features
      if (!length(features)) return(NULL)
      field <- function(name) vapply(features, function(f) if (is.null(f[[name]])) NA_real_ else as.double(f[[name]]), 0)
      label <- if (is.null(cluster$class)) cluster$number else cluster$class
      data.frame(dataset = task$name, label = as.character(label), size = cluster$size,
                 feature = vapply(features, function(f) as.character(f$feature %||% f$name), ""), effect = field("effect"),
                 mean_inside = field("mean_inside"), mean_outside = field("mean_outside"))
    }))))
    out$quality <- do.call(rbind, lapply(tasks, function(task) if (!is.null(task$quality)) {
      q <- task$quality
      data.frame(dataset = task$name, silhouette = q$silhouette %||% NA, davies_bouldin = q$davies_bouldin %||% NA,
                 calinski_harabasz = q$calinski_harabasz %||% NA, stability = q$stability %||% NA)
    }))
    out$preprocessing <- json$preprocessing
  }
  structure(out, class = "summary.kindred")
}

# How a data set is clustered compared with a run alone, in a few words.
compared <- function(sharing) {
  if (!is.null(sharing$from) && !is.na(sharing$from)) paste("clusters carried over from", sharing$from)
  else if (!is.null(sharing$moved) && !is.na(sharing$moved)) paste(count_of(sharing$moved, "sample"), "moved")
  else ""
}

# Prints a table without breaking its lines; columns without content are skipped.
show_table <- function(frame) {
  frame <- frame[vapply(frame, function(column) any(!is.na(column) & column != ""), NA)]
  cells <- Map(function(column, title) {
    number <- is.numeric(column)
    text <- if (number && any(column != round(column), na.rm = TRUE)) sprintf("%.2f", column) else as.character(column)
    format(c(title, ifelse(is.na(column), if (number) "-" else "", text)), justify = if (number) "right" else "left")
  }, frame, names(frame))
  writeLines(sub(" +$", "", do.call(paste, c(unname(cells), sep = "  "))))
}

`%||%` <- function(x, y) if (is.null(x)) y else x

#' @rdname kindred-object
#' @export
print.summary.kindred <- function(x, ...) {
  attention <- c(if (length(x$attention)) paste("warning:", x$attention), x$k)
  if (length(attention)) cat(attention, "", sep = "\n")
  cat(if (x$command == "transfer") "Transfer of labels" else "Clustering", " by ", x$method, "\n", sep = "")
  show_table(x$datasets)
  cat("\n")
  show_table(x$clusters)
  if (!is.null(x$features)) {
    cat("\nFeatures that distinguish the labels most:\n")
    top <- do.call(rbind, lapply(split(x$features, list(x$features$dataset, x$features$label), drop = TRUE), function(part)
      head(part[order(-abs(part$effect)), ], 3)))
    print(top, row.names = FALSE, digits = 3)
  }
  if (!is.null(x$quality)) {
    cat("\nQuality:\n")
    print(x$quality, row.names = FALSE, digits = 3)
  }
  for (name in names(x$advice)) if (length(x$advice[[name]])) cat("\n", paste0(x$advice[[name]], "\n"), sep = "")
  if (is.character(x$preprocessing) && length(x$preprocessing) == 1) cat("\nPreprocessing: ", x$preprocessing, "\n", sep = "")
  invisible(x)
}

#' @rdname kindred-object
#' @param by `"label"` draws one panel for each data set, with the same axes and
#'   colours; `"dataset"` draws all samples in one panel, coloured by data set.
#' @param pch,cex,xlab,ylab Passed to [graphics::plot()].
#' @param main Titles of the panels. The default is the names of several data sets.
#' @export
plot.kindred <- function(x, by = c("label", "dataset"), pch = 19, cex = 0.6, xlab = "", ylab = "", main = NULL, ...) {
  by <- match.arg(by)
  if (all(vapply(x$map, is.null, NA))) kd_stop("the result has no map of the samples: fit with map = TRUE")
  frame <- do.call(rbind, lapply(x$datasets, function(name) {
    map <- x$map[[name]]
    if (!is.null(map)) data.frame(x = map$x, y = map$y, label = as.character(x$labels[[name]])[map$sample], dataset = name)
  }))
  groups <- factor(frame[[by]], levels = if (by == "dataset") x$datasets else if (is.null(x$classes)) sort(unique(as.integer(frame$label)))
                   else levels(x$labels[[1]]))
  colours <- grDevices::hcl.colors(max(1, nlevels(groups)), "Dark 3")
  title <- if (by == "dataset") "data set" else if (is.null(x$classes)) "cluster" else "class"
  panels <- split(seq_len(nrow(frame)), if (by == "label") factor(frame$dataset, levels = unique(frame$dataset)) else rep(1, nrow(frame)))
  n <- length(panels)
  if (n > 1) {
    columns <- ceiling(sqrt(n))
    cells <- matrix(c(seq_len(n), rep(0, -n %% columns)), ncol = columns, byrow = TRUE)
    old <- par(c("mfrow", "mar"))
    on.exit(par(old))
    graphics::layout(cbind(cells, n + 1), widths = c(rep(1, columns), 0.4)) # the legend is beside the panels, where it covers no samples
    par(mar = c(1, 1, 2, 1))
    if (is.null(main)) main <- names(panels)
  }
  for (i in seq_len(n)) {
    rows <- panels[[i]]
    graphics::plot(frame$x[rows], frame$y[rows], col = colours[as.integer(groups)[rows]], pch = pch, cex = cex, xlab = xlab, ylab = ylab, xaxt = "n", yaxt = "n",
                   asp = 1, xlim = range(frame$x), ylim = range(frame$y), main = if (length(main)) rep_len(main, n)[i], ...)
  }
  if (n > 1) graphics::plot.new()
  legend(if (n > 1) "left" else "topright", legend = levels(groups), col = colours, pch = pch, bty = "n", title = title)
  invisible(frame)
}

#' Arrays of a fitted method
#'
#' @param fit A result of [kd_cluster()] or [kd_transfer()].
#' @param name Name of the array; without it, the names of all arrays.
#' @param dataset Name of the data set, for arrays that each data set has.
#' @return A vector, matrix or array; or a character vector of names.
#' @examples
#' sets <- kd_generate("blobs", k = 3, samples = 60, seed = 1)
#' fit <- kd_cluster(sets, k = 3, method = "kmeans", map = FALSE)
#' kd_array(fit)
#' dim(kd_array(fit, "centres", "task1"))
#' @export
kd_array <- function(fit, name = NULL, dataset = NULL) {
  check_fit(fit)
  if (is.null(name)) return(unique(fit$arrays$name))
  if (!name %in% fit$arrays$name) kd_stop("there is no array '", name, "': ", fit$method, " has ", paste(unique(fit$arrays$name), collapse = ", "))
  tasks <- fit$arrays$task[fit$arrays$name == name]
  if (identical(tasks, -1L)) return(.Call(C_result_named_array, alive(fit), name, -1L))
  if (is.null(dataset) && length(tasks) == 1) task <- tasks
  else {
    if (is.null(dataset)) kd_stop("each data set has an array '", name, "': choose one with dataset = \"", fit$all_datasets[tasks[1] + 1], "\"")
    task <- match(dataset, fit$all_datasets) - 1L
    if (is.na(task)) kd_stop("there is no data set '", dataset, "': the data sets are ", paste(fit$all_datasets, collapse = ", "))
  }
  .Call(C_result_named_array, alive(fit), name, as.integer(task))
}

check_fit <- function(fit) if (!inherits(fit, "kindred")) kd_stop("fit is ", shown(class(fit)[1]), ": use a result of kd_cluster() or kd_transfer()")

#' A result as JSON, as the program writes it to result.json
#'
#' @param fit A result of [kd_cluster()] or [kd_transfer()].
#' @param path File to write; `NULL` returns the text.
#' @param force Replace an existing file.
#' @return The text, or `path` invisibly.
#' @examples
#' sets <- kd_generate("blobs", k = 2, samples = 20, seed = 1)
#' fit <- kd_cluster(sets, k = 2, method = "kmeans", map = FALSE)
#' substr(kd_json(fit), 1, 60)
#' @export
kd_json <- function(fit, path = NULL, force = FALSE) {
  check_fit(fit)
  session <- session_open()
  on.exit(session_close(session))
  if (is.null(path)) return(call_c(session, C_result_text, alive(fit), TRUE))
  call_c(session, C_result_save, alive(fit), path.expand(path), flag(force, "force"))
  invisible(path)
}

#' Give names to clusters
#'
#' Results, reports, tables and models have the names from then on. The fitted result
#' itself gets them, also where other variables refer to it.
#'
#' @param fit A result of [kd_cluster()].
#' @param names The name of each cluster, with cluster numbers as names of the vector:
#'   `c("0" = "families", "2" = "students")`. Or a file with a number and a name in each
#'   line. Other clusters keep their names.
#' @return `fit` with other `names`.
#' @examples
#' sets <- kd_generate("blobs", k = 3, samples = 60, seed = 1)
#' fit <- kd_cluster(sets, k = 3, method = "kmeans", map = FALSE)
#' fit <- kd_rename(fit, c("0" = "first", "1" = "second"))
#' fit$names$task1
#' @export
kd_rename <- function(fit, names) {
  check_fit(fit)
  numbers <- NULL
  if (!is_path(names) || !is.null(names(names))) {
    numbers <- suppressWarnings(as.integer(names(names)))
    names <- vapply(names, function(name) if (is.character(name) && length(name) == 1) name else NA_character_, "")
    if (length(numbers) != length(names) || anyNA(numbers) || anyNA(names) || !length(names))
      kd_stop("names is ", shown(names), ": use texts that are named by cluster numbers, such as c(\"0\" = \"families\"), or the path of a file")
  } else names <- path.expand(names)
  session <- session_open()
  on.exit(session_close(session))
  call_c(session, C_result_rename, alive(fit), numbers, unname(names))
  found <- .Call(C_result_info, fit$pointer)
  all <- vapply(found$tasks, `[[`, "", "name")
  fit$names <- stats::setNames(lapply(found$tasks[match(fit$datasets, all)], `[[`, "names"), fit$datasets)
  fit$warnings <- in_r(found$warnings)
  fit
}

#' Write the labels into a copy of the table that was read
#'
#' @param fit A result of [kd_cluster()] or [kd_transfer()] on data that [kd_read()] read
#'   from a CSV, TSV or Excel file.
#' @param path The file to write. An Excel file stays one.
#' @param dataset Name of the data set, if there are several. If they are sheets of one Excel
#'   file, all of them get the columns.
#' @param columns Columns to add, of `"label"`, `"name"`, `"confidence"` and
#'   `"second"`; `NULL` adds those that the result has.
#' @param force Replace an existing file.
#' @return `path`, invisibly.
#' @examples
#' table <- tempfile(fileext = ".csv")
#' write.csv(data.frame(age = c(21, 22, 61, 62), income = c(10, 11, 40, 41)), table, row.names = FALSE)
#' fit <- kd_cluster(kd_read(table), k = 2, method = "kmeans", map = FALSE)
#' read.csv(kd_save_table(fit, tempfile(fileext = ".csv"), columns = "label"))
#' @export
kd_save_table <- function(fit, path, dataset = NULL, columns = NULL, force = FALSE) {
  check_fit(fit)
  if (is.null(dataset)) dataset <- fit$datasets[1]
  task <- match(dataset, fit$all_datasets) - 1L
  if (length(task) != 1 || is.na(task)) kd_stop("there is no data set ", shown(dataset), ": the data sets are ", paste(fit$all_datasets, collapse = ", "))
  session <- session_open()
  on.exit(session_close(session))
  call_c(session, C_result_input, alive(fit), fit$level, task, if (!is.null(columns)) paste(columns, collapse = ","), path.expand(path), flag(force, "force"))
  invisible(path)
}

#' Write the report of a result: one HTML page
#'
#' @param fit A result of [kd_cluster()] or [kd_transfer()], or the path of a
#'   `result.json` that the program wrote.
#' @param path The HTML file to write.
#' @param force Replace an existing file.
#' @return `path`, invisibly.
#' @examples
#' sets <- kd_generate("blobs", k = 3, samples = 60, seed = 1)
#' fit <- kd_cluster(sets, k = 3, method = "kmeans")
#' page <- kd_report(fit, tempfile(fileext = ".html"))
#' file.size(page) > 0
#' @export
kd_report <- function(fit, path, force = FALSE) {
  session <- session_open()
  on.exit(session_close(session))
  if (is_path(fit)) call_c(session, C_file_page, path.expand(fit), path.expand(path), flag(force, "force"))
  else {
    check_fit(fit)
    call_c(session, C_result_page, alive(fit), path.expand(path), flag(force, "force"))
  }
  invisible(path)
}

#' Choose one of several numbers of clusters
#'
#' After [kd_cluster()] with a range of `k`, or with an estimated `k`, the result has
#' labels for several numbers of clusters.
#'
#' @param fit A result of [kd_cluster()].
#' @param k The number of clusters.
#' @return `fit` with the labels, the confidence and the second-best labels for `k`
#'   clusters, which [kd_save_table()] writes. The report, the map and models stay those of the
#'   suggested number.
#' @examples
#' sets <- kd_generate("blobs", k = 3, samples = 60, seed = 1)
#' fit <- kd_cluster(sets, k = 2:4, method = "kmeans", map = FALSE)
#' fit$k
#' table(labels(kd_cut(fit, 4))$task1)
#' @export
kd_cut <- function(fit, k) {
  check_fit(fit)
  if (is.null(fit$level_details)) kd_stop("the fit has one number of clusters: use a range such as k = 3:8 in kd_cluster()")
  level <- if (is.numeric(k) && length(k) == 1) fit$level_details[[as.character(k)]]
  if (is.null(level)) kd_stop("k is ", shown(k), ": the fit has ", paste(names(fit$level_details), collapse = ", "), " clusters")
  same <- c("labels", "confidence", "second", "numbers")
  fit[same] <- level[same]
  fit$level <- match(as.character(k), names(fit$level_details)) - 1L
  fit$k <- unname(level$k)
  fit$k_from <- "chosen"
  fit$k_evidence <- character()
  fit
}

#' Apply edits that were made in the report
#'
#' @param result Path of the `result.json` that belongs to the report ([kd_json()]).
#' @param edits Path of the edits file that the report saved, or of a file with a number and
#'   a name of a cluster in each line.
#' @param folder Folder for the edited result and the labels. It is created if it
#'   does not exist.
#' @param h5ad Also write the AnnData input to this file, with the edited labels.
#' @param key Names in that file begin with it instead of `kindred`.
#' @param table Also write the CSV, TSV or Excel input to this file, with the edited labels.
#' @param columns The columns to add to it, as for [kd_save_table()].
#' @param model Also write a copy of this model into the folder, with the edited names
#'   of classes or clusters.
#' @param force Replace existing files.
#' @return `folder`, invisibly.
#' @examples
#' sets <- kd_generate("blobs", k = 3, samples = 30, seed = 1)
#' fit <- kd_cluster(sets, k = 3, method = "kmeans", map = FALSE)
#' result <- kd_json(fit, tempfile(fileext = ".json"))
#' edits <- tempfile(fileext = ".json")
#' writeLines(c('{"format": "kindred-edits", "version": 1, "edits": [',
#'              '{"do": "merge", "cluster": 2, "into": 1}]}'), edits)
#' folder <- kd_relabel(result, edits, tempfile())
#' table(readLines(file.path(folder, "task1.labels")))
#' @export
kd_relabel <- function(result, edits, folder, h5ad = NULL, key = NULL, table = NULL, columns = NULL, model = NULL, force = FALSE) {
  if (!is.null(columns) && is.null(table)) kd_stop("columns has no effect without table: give the file to write")
  for (path in c(result, edits)) if (!file.exists(path)) kd_stop(path, ": no such file", status = 50L)
  session <- session_open()
  on.exit(session_close(session))
  expand <- function(path) if (!is.null(path)) path.expand(path)
  if (!dir.exists(folder)) dir.create(folder, recursive = TRUE)
  call_c(session, C_apply_edits, path.expand(result), path.expand(edits), path.expand(folder),
         list(h5ad = expand(h5ad), key = key, table = expand(table), columns = if (!is.null(columns)) paste(columns, collapse = ","), model = expand(model)), flag(force, "force"))
  invisible(folder)
}
