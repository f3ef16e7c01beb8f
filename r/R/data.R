# From matrices, data frames, texts and files to data sets of the library. SPDX-License-Identifier: BSD-3-Clause

is_path <- function(x) is.character(x) && length(x) == 1 && is.null(dim(x))
is_texts <- function(x) is.character(x) && length(x) > 1 && is.null(dim(x))
is_cells <- function(x) inherits(x, c("SingleCellExperiment", "SummarizedExperiment", "Seurat"))
is_table <- function(x) is.data.frame(x) || length(dim(x)) == 2 || inherits(x, "kd_data") || is_path(x) || is_cells(x)

# Tables and their names, from one table, a vector of paths or a list. NA: no name was given.
as_tables <- function(x, what) {
  if (is.null(x)) return(list(tables = list(), names = character()))
  if (is_table(x)) return(list(tables = list(with_missing(x)), names = NA_character_))
  if (is.character(x)) x <- as.list(x)
  if (!is.list(x)) kd_stop(what, " is ", shown(class(x)[1]), ": use a matrix, a sparse matrix, a data frame, a path, or a list of them")
  if (length(x) == 0) kd_stop(what, " is an empty list: at least one data set is needed")
  for (i in seq_along(x))
    if (!is_table(x[[i]]) && !is_texts(x[[i]]))
      kd_stop("element ", i, " of ", what, " is ", shown(class(x[[i]])[1]),
              ": use a matrix, a sparse matrix, a data frame, a path, or a character vector of texts")
  names <- if (is.null(names(x))) rep(NA_character_, length(x)) else ifelse(nzchar(names(x)), names(x), NA_character_)
  twice <- names[duplicated(names) & !is.na(names)]
  if (length(twice)) kd_stop("two data sets of ", what, " are called '", twice[1], "': use different names")
  list(tables = unname(lapply(x, with_missing)), names = names)
}

# A dense matrix with missing values as a data frame of numbers, because only tables have the argument `missing`. Other tables are returned unchanged.
with_missing <- function(x) {
  if (inherits(x, "Matrix") && !inherits(x, "sparseMatrix")) x <- as.matrix(x)
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x)) || !anyNA(x)) return(x)
  storage.mode(x) <- "double"
  if (anyDuplicated(rownames(x))) rownames(x) <- NULL
  as.data.frame(x)
}

# Numbers of a dense or sparse matrix. transposed: samples are columns.
matrix_set <- function(session, x, name, transposed = FALSE) {
  axes <- dimnames(x)
  size <- if (transposed) rev(dim(x)) else dim(x)
  if (any(size == 0)) kd_stop(if (is.na(name)) "x" else name, " has ", size[1], " samples and ", size[2], " features: at least one of each is needed", status = 20L)
  features <- axes[[if (transposed) 1 else 2]]
  ids <- axes[[if (transposed) 2 else 1]]
  if (inherits(x, "sparseMatrix")) {
    if (!inherits(x, c("dgCMatrix", "dgRMatrix"))) {
      if (!requireNamespace("Matrix", quietly = TRUE)) kd_stop("sparse matrices need the package Matrix", status = 60L)
      x <- methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
    }
    if (anyNA(x@x)) kd_stop(if (is.na(name)) "x" else name, " is a sparse matrix with missing values: replace them, or use a dense matrix and the argument missing", status = 20L)
    if (inherits(x, "dgRMatrix"))
      return(call_c(session, C_data_sparse, name, x@p, x@j, x@x, rev(x@Dim), !transposed, features, ids))
    return(call_c(session, C_data_sparse, name, x@p, x@i, x@x, x@Dim, transposed, features, ids))
  }
  if (!is.matrix(x)) x <- as.matrix(x)
  if (!is.numeric(x) && !is.logical(x))
    kd_stop(if (is.na(name)) "x" else name, " is a matrix of type ", typeof(x), ": numbers are needed; use a data frame for texts and categories",
            status = 20L)
  call_c(session, C_data_dense, name, x, transposed, features, ids)
}

table_set <- function(session, x, name) {
  if (inherits(x, "kd_data")) return(call_c(session, C_data_copy, x$pointer, name))
  if (is_cells(x)) return(matrix_set(session, cells_matrix(x), name, transposed = TRUE))
  if (is.data.frame(x)) {
    columns <- names(x)
    ids <- if (.row_names_info(x) > 0) row.names(x)
    x <- as.matrix(x)
    dimnames(x) <- list(ids, columns)
  }
  matrix_set(session, x, name)
}

# A character vector as JSON strings.
json_strings <- function(texts) {
  texts <- enc2utf8(ifelse(is.na(texts), "", texts))
  texts <- gsub("\\", "\\\\", texts, fixed = TRUE)
  texts <- gsub("\"", "\\\"", texts, fixed = TRUE)
  texts <- gsub("\n", "\\n", gsub("\r", "\\r", gsub("\t", "\\t", texts, fixed = TRUE), fixed = TRUE), fixed = TRUE)
  paste0("\"", gsub("[[:cntrl:]]", " ", texts), "\"")
}

# Texts as a file of JSON objects, which keeps their line ends. fields: further columns, such as ids.
write_texts <- function(texts, fields = NULL, name = "text") {
  path <- tempfile("kindred", fileext = ".json")
  lines <- paste0(json_strings(name), ": ", json_strings(texts))
  for (name in names(fields)) lines <- paste0(lines, ", ", json_strings(name), ": ", json_strings(as.character(fields[[name]])))
  writeLines(paste0("{", lines, "}"), path, useBytes = TRUE)
  path
}

# The texts in the text column of a data frame, and what its other columns say of them by name: ids (as `id`), classes and data sets. may_lack: it may
# lack the column of classes.
frame_texts <- function(frame, how, name, may_lack) {
  column <- function(title) {
    if (!title %in% names(frame))
      kd_stop(name, " has no column '", title, "': its columns are ", paste(names(frame), collapse = ", "), suggestion(title, names(frame)))
    as.character(frame[[title]])
  }
  if (nrow(frame) < 2) kd_stop(name, " has ", nrow(frame), " rows: at least two texts are needed", status = 20L)
  fields <- list(id = if (!is.null(how$id_column)) column(how$id_column) else if (.row_names_info(frame) > 0) row.names(frame))
  for (title in c(how$label_column, how$task_column))
    if (title %in% names(frame) || !may_lack || !identical(title, how$label_column)) fields[[title]] <- column(title)
  list(texts = column(how$text_column), fields = fields[!vapply(fields, is.null, NA)])
}

# Groups of load_groups with the texts of data frames instead of these.
texts_of_frames <- function(groups, how) {
  unused <- intersect(names(how), c("columns", "rename", "recode"))
  if (length(unused)) kd_stop(paste(unused, collapse = ", "), " has no effect with text_column: only the words of that column are used; remove it")
  tables <- unlist(lapply(groups, function(g) g$tables), recursive = FALSE)
  if (!any(vapply(tables, function(table) is.data.frame(table) || is_path(table), NA)))
    kd_stop("text_column is ", shown(how$text_column), ", but no table has columns of texts: use it with data frames and files")
  lapply(groups, function(group) {
    for (i in which(vapply(group$tables, is.data.frame, NA))) {
      found <- frame_texts(group$tables[[i]], how, own_name(group, i), group$may_lack)
      if (is.null(group$fields)) group$fields <- vector("list", length(group$tables))
      group$tables[[i]] <- found$texts
      group$fields[i] <- list(found$fields)
    }
    group
  })
}

read_paths <- function(session, paths, names, how, may_lack = rep(FALSE, length(paths)), memory = NULL, model = NULL)
  call_c(session, C_read_sets, if (is.null(memory)) path.expand(paths) else paths, as.character(names), may_lack, how, memory, model)

# The options of reading in the form of C; NULL values are removed.
reading <- function(columns = NULL, rename = NULL, recode = NULL, missing = NULL, na = NULL, decimal = NULL, thousands = NULL, skip_rows = NULL, sheet = NULL, id_column = NULL, label_column = NULL,
                    task_column = NULL, text_column = NULL, texts = NULL, ...) {
  text <- function(value, name) {
    if (!is.null(value) && (!(is.character(value) || is.numeric(value)) || length(value) != 1 || is.na(value)))
      kd_stop(name, " is ", shown(value), ": use one text")
    if (!is.null(value)) as.character(value)
  }
  lines <- if (length(texts)) {
    if (!is.list(texts) || is.null(names(texts))) kd_stop("texts is ", shown(texts), ": use a named list, such as list(min_df = 2)")
    spelt <- names(texts)
    spelt[spelt == "stopwords"] <- "stop-words"
    spelt[spelt == "max_features"] <- "top-features"
    paste0(gsub("_", "-", spelt), "=", vapply(texts, function(v) paste(if (is.logical(v)) as.integer(v) else v, collapse = ","), ""), collapse = "\n")
  }
  how <- list(columns = columns_text(columns), rename = if (length(rename)) paste0(quoted(names(rename)), "=", rename),
              recode = recode_words(recode),
              missing = text(missing, "missing"), na = if (length(na)) as.character(na), decimal = text(decimal, "decimal"),
              thousands = text(thousands, "thousands"), skip_rows = text(skip_rows, "skip_rows"), sheet = text(sheet, "sheet"),
              id_column = text(id_column, "id_column"), label_column = text(label_column, "label_column"),
              task_column = text(task_column, "task_column"), text_column = text(text_column, "text_column"),
              texts = if (!is.null(lines)) paste0(lines, "\n"), ...)
  how[!vapply(how, is.null, NA)]
}

# New values of cells in the form of C.
recode_words <- function(recode) {
  if (is.null(recode) || is_path(recode)) return(if (!is.null(recode)) path.expand(recode))
  if (!is.list(recode) || is.null(names(recode)) || any(vapply(recode, function(one) is.null(names(one)), NA)))
    kd_stop("recode is ", shown(recode), ": use a list such as list(smoker = c(ja = \"yes\")), or a CSV file with column, old and new")
  unlist(Map(function(column, values) paste0(quoted(column), ":", quoted(names(values)), "=", ifelse(is.na(values), "", values)), names(recode), recode),
         use.names = FALSE)
}

# How missing values of tables are handled by default, as in the program.
default_missing <- function(algorithm, family) {
  if (bitwAnd(algorithm$flags, 65536L)) "keep" else if (family == "transfer" && algorithm$called == "auto") "mean"
}

# The data sets of groups of tables, such as the sources and the targets of a transfer. Each group has tables, names, a stem for data sets without a
# name, and may_lack: whether its tables may lack the column of classes. Texts of all groups share one vocabulary.
# Returns for each group the data sets and the index of the table of each. A group may have fields: what else is known of the texts of each table.
# explained: columns and classes that the options name may be in the views.
load_groups <- function(session, groups, how, missing = NULL, explained = FALSE) {
  if (is.null(how$missing)) how$missing <- missing
  by_column <- !is.null(how$text_column) && !explained
  if (by_column) groups <- texts_of_frames(groups, how)
  text_how <- how[intersect(names(how), c("id_column", "label_column", "text_column", "texts", if (by_column) "task_column"))]
  frame_how <- how[setdiff(names(how), c("text_column", "texts"))]
  found <- lapply(groups, function(g) vector("list", length(g$tables)))
  temporary <- character()
  on.exit(unlink(temporary))
  kind_of <- function(table) {
    if (is_texts(table)) "texts"
    else if (is_path(table)) { if (!is.null(how$text_column) || dir.exists(table)) "folder" else "path" }
    else if (is.data.frame(table)) "frame" else "matrix"
  }
  kinds <- lapply(groups, function(g) vapply(g$tables, kind_of, ""))
  several <- sum(lengths(kinds)) > 1

  # texts, over one vocabulary
  places <- do.call(rbind, lapply(seq_along(groups), function(g) {
    i <- which(kinds[[g]] %in% c("texts", "folder"))
    if (length(i)) data.frame(g = g, i = i)
  }))
  if (!is.null(places)) {
    paths <- names <- character()
    may_lack <- logical()
    held <- vapply(seq_len(nrow(places)), function(row) is_texts(groups[[places$g[row]]]$tables[[places$i[row]]]), NA)
    fields <- lapply(seq_len(nrow(places)), function(row) groups[[places$g[row]]]$fields[[places$i[row]]])
    named <- all(vapply(fields[held], function(f) !is.null(f[["id"]]), NA)) && (all(held) || !is.null(text_how$id_column))
    id_field <- text_how$id_column %||% "id"
    if (any(held)) {
      text_how$id_column <- if (named) id_field
      text_how$text_column <- how$text_column %||% "text"
    }
    for (row in seq_len(nrow(places))) {
      group <- groups[[places$g[row]]]
      i <- places$i[row]
      table <- group$tables[[i]]
      if (held[row]) {
        lacking <- if (!explained && is.null(fields[[row]])) intersect(names(how), c("id_column", "task_column", if (!group$may_lack) "label_column"))
        if (length(lacking))
          kd_stop(own_name(group, i), " is a vector of texts, without columns: use a data frame or a path with ", paste(lacking, collapse = ", "))
        own <- fields[[row]]
        if (!named) own <- own[names(own) != "id"] else names(own)[names(own) == "id"] <- id_field
        table <- write_texts(table, own, text_how$text_column)
        temporary <- c(temporary, table)
        names <- c(names, own_name(group, i))
      } else {
        names <- c(names, group$names[i])
      }
      paths <- c(paths, table)
      may_lack <- c(may_lack, group$may_lack || is_texts(group$tables[[i]]))
    }
    read <- read_paths(session, paths, names, c(text_how, list(temporary = length(temporary) == length(paths), together_only = length(groups) > 1)), may_lack)
    owned(session, read$sets)
    for (n in seq_along(read$sets)) {
      at <- places[read$from[n] + 1, ]
      found[[at$g]][[at$i]] <- c(found[[at$g]][[at$i]], read$sets[n])
    }
  }

  for (g in seq_along(groups)) {
    group <- groups[[g]]
    lenient <- if ((several || explained) && length(intersect(names(how), c("columns", "rename", "recode")))) list(may_lack_columns = TRUE)
    own_how <- c(frame_how, if ((group$may_lack || explained) && !is.null(how$label_column)) list(may_lack_labels = TRUE), lenient)
    paths <- which(kinds[[g]] == "path")
    if (length(paths)) {
      read <- read_paths(session, vapply(group$tables[paths], identity, ""), group$names[paths], own_how)
      owned(session, read$sets)
      for (n in seq_along(read$sets)) {
        i <- paths[read$from[n] + 1]
        found[[g]][[i]] <- c(found[[g]][[i]], read$sets[n])
      }
    }
    for (i in which(kinds[[g]] %in% c("frame", "matrix"))) {
      table <- group$tables[[i]]
      name <- own_name(group, i)
      specified <- setdiff(names(own_how), c("missing", "may_lack_labels", "may_lack_columns"))
      if (is.data.frame(table) && (length(specified) || !is_plain(table))) {
        found[[g]][[i]] <- owned(session, read_frame(session, table, name, own_how))
        if (!is.null(how$task_column) && several)
          found[[g]][[i]] <- owned(session, lapply(found[[g]][[i]], function(set)
            call_c(session, C_data_copy, set, paste0(name, "-", .Call(C_data_info, set)$name))))
        next
      }
      needs <- intersect(specified, c("columns", "rename", "recode", "id_column", "label_column", "task_column"))
      if (length(needs) && !explained && !inherits(table, "kd_data"))
        kd_stop(name, " is a matrix, which has no columns of other types: use a data frame or a path with ", paste(needs, collapse = ", "))
      found[[g]][[i]] <- owned(session, list(table_set(session, table, if (inherits(table, "kd_data") && is.na(group$names[i])) NA_character_ else name)))
    }
  }
  if (several && !explained) check_names(found, how)
  lapply(found, function(sets) list(sets = unlist(sets, recursive = FALSE), from = rep(seq_along(sets), lengths(sets))))
}

own_name <- function(group, i) {
  if (!is.na(group$names[i])) group$names[i] else if (length(group$tables) == 1) group$stem else paste0(group$stem, i)
}

# Raises an error if an option names a column that no table has. A single table may lack it.
check_names <- function(found, how) {
  if (is.null(how$columns) && is.null(how$rename)) return(invisible())
  infos <- lapply(unlist(unlist(found, recursive = FALSE), recursive = FALSE), function(set) .Call(C_data_info, set))
  have <- unique(unlist(lapply(infos, function(info) c(info$columns$name, info$features))))
  wanted <- c(column_items(how$columns), sub("^.*=", "", how$rename))
  wanted <- wanted[wanted != "*" & !grepl("^[0-9]+$", wanted)]
  for (name in wanted)
    if (length(have) && !name %in% have) kd_stop("no table has a column '", name, "'", suggestion(name, have))
}

# The views that explain data sets, in the form of load_groups. count: the number of tables.
view_group <- function(explain, count, names, how) {
  if (count == 1 && (is_texts(explain) || is_table(explain))) explain <- list(explain)
  else if (is.character(explain)) explain <- as.list(explain)
  if (!is.list(explain) || is.data.frame(explain)) explain <- list(explain)
  if (!is.null(names(explain)) && all(nzchar(names(explain)))) {
    strange <- setdiff(names(explain), names)
    if (length(strange)) kd_stop("explain has '", strange[1], "', but the data sets are ", paste(names, collapse = ", "))
    explain <- lapply(names, function(name) explain[[name]])
  }
  if (length(explain) != count)
    kd_stop("explain has ", length(explain), if (length(explain) == 1) " entry" else " entries", " for ", count, " data set", if (count > 1) "s",
            ": one for each is needed, NULL if there is none")
  at <- which(!vapply(explain, is.null, NA))
  fields <- vector("list", length(at))
  for (n in seq_along(at)) {
    one <- explain[[at[n]]]
    if (is.data.frame(one) && !is.null(how$text_column)) {
      if (!how$text_column %in% names(one)) kd_stop("explain has no column '", how$text_column, "': its columns are ", paste(names(one), collapse = ", "))
      ids <- if (isTRUE(how$id_column %in% names(one))) one[[how$id_column]] else if (.row_names_info(one) > 0) row.names(one)
      classes <- if (isTRUE(how$label_column %in% names(one))) stats::setNames(list(one[[how$label_column]]), how$label_column)
      fields[[n]] <- c(list(id = ids), classes)
      explain[[at[n]]] <- as.character(one[[how$text_column]])
    } else if (is_texts(one) && !is.null(names(one))) {
      fields[[n]] <- list(id = names(one))
    }
  }
  texts <- vapply(explain[at], is_texts, NA)
  named <- any(texts) && all(vapply(fields[texts], function(f) !is.null(f$id), NA))
  if (!named) fields <- lapply(fields, function(f) f[setdiff(names(f), "id")])
  group <- if (length(at)) as_tables(unname(explain[at]), "explain") else as_tables(NULL, "explain")
  group$names <- ifelse(vapply(group$tables, is_path, NA), NA_character_, if (count == 1) "explain" else paste0("explain[[", at, "]]"))
  list(at = at, named = if (any(texts)) named, group = c(group, list(stem = "explain", may_lack = TRUE, fields = fields)))
}

# Gives data sets (a result of load_groups) the views that explain them.
explain_by <- function(session, loaded, count, explain, how) {
  names <- vapply(match(seq_len(count), loaded$from), function(i) .Call(C_data_info, loaded$sets[[i]])$name, "")
  views <- view_group(explain, count, names, how)
  if (!is.null(views$named)) how$id_column <- if (views$named) "id"
  found <- load_groups(session, list(views$group), how, "keep", explained = TRUE)[[1]]
  owner <- views$at[found$from]
  if (!identical(owner, loaded$from[loaded$from %in% views$at]))
    kd_stop("explain has ", length(owner), " data sets for ", sum(loaded$from %in% views$at), ": its tables need the same values in task_column")
  for (n in seq_along(owner)) call_c(session, C_data_explain, loaded$sets[[which(loaded$from %in% views$at)[n]]], found$sets[[n]])
}

# Lets samples be compared by both views.
combine <- function(session, sets, explain, both_views) {
  if (!flag(both_views, "both_views")) return(invisible())
  if (is.null(explain)) kd_stop("both_views needs a second view: pass explain")
  call_c(session, C_data_combine, sets)
}

# Options for texts, with those of their word vectors.
with_vectors <- function(texts, vectors) if (is.null(vectors)) texts else c(as.list(texts), vectors = path.expand(vectors))

# The options for data sets that views explain: those for texts belong to the views.
without_texts <- function(how) how[setdiff(names(how), c("text_column", "texts"))]
