# Data frames by the rules for tables. SPDX-License-Identifier: BSD-3-Clause
#
# A data frame with anything but finite numbers is passed to the library's table reader as text in memory. Factors, dates, texts, row names and missing
# values therefore follow the same rules in files and in data frames. The classes of the columns determine how they are treated if they can, and the values
# determine the others.

# Whether a data frame has only finite numbers, which are used directly. Whole numbers that are all different may be row names, which the table reader decides.
is_plain <- function(frame) {
  if (nrow(frame) == 0) return(TRUE)
  for (column in as.list(frame)) {
    if (is.object(column) || !is.numeric(column) || !is.null(dim(column))) return(FALSE)
    if (!all(is.finite(column))) return(FALSE)
    if (is.integer(column) && nrow(frame) > 1 && ncol(frame) > 1 && !anyDuplicated(column)) return(FALSE)
  }
  TRUE
}

quoted <- function(text) if (length(text)) paste0("\"", gsub("\"", "\"\"", enc2utf8(as.character(text)), fixed = TRUE), "\"") else character()

# The option `columns` in the form of the library: from one text, names of columns, or a list of kinds by name, in which NULL or NA skips a column.
columns_text <- function(columns) {
  if (is.null(columns)) return(NULL)
  if (is.list(columns) || !is.null(names(columns))) {
    columns <- as.list(columns)
    if (is.null(names(columns))) kd_stop("columns is ", shown(columns), ": use names of columns, or a list of kinds by name")
    kinds <- lapply(columns, function(kind) if (is.null(kind) || is.na(kind) || identical(kind, FALSE)) NULL else kind)
    return(paste(ifelse(vapply(kinds, is.null, NA), paste0("-", quoted(names(columns))),
                        paste0(quoted(names(columns)), ":", vapply(kinds, function(k) if (is.null(k)) "" else as.character(k), ""))), collapse = ","))
  }
  if (!is.character(columns)) kd_stop("columns is ", shown(columns), ": use names of columns, or a list of kinds by name")
  if (length(columns) == 1 && grepl("[,:]|^-", columns)) columns else paste(quoted(columns), collapse = ",")
}

item_pattern <- "(?:^|,)\\s*([-+]?)(?:\"((?:[^\"]|\"\")*)\"\\??|([^,:\"]*))(:[^,]*)?"

# The names in the option `columns`. with_kind: only those that have a kind or a sign.
column_items <- function(columns) {
  if (is.null(columns)) return(character())
  items <- regmatches(columns, gregexpr(item_pattern, columns, perl = TRUE))[[1]]
  names <- sub("^,?\\s*[-+]?", "", sub("\\??(:[^\"]*)?$", "", items))
  quotes <- grepl("^\"", names)
  names[quotes] <- gsub("\"\"", "\"", gsub("^\"|\"$", "", names[quotes]), fixed = TRUE)
  trimws(names)[nzchar(names)]
}

lists_columns <- function(columns) {
  items <- regmatches(columns, gregexpr(item_pattern, columns, perl = TRUE))[[1]]
  items <- sub("^,?\\s*", "", items)
  any(nzchar(items) & !grepl("^[-+]", items) & !grepl(":[^\"]*$", items)) || any(grepl("*", items, fixed = TRUE))
}

# The kind of a column, if its class determines one; "" if the values decide.
column_kind <- function(column, name) {
  if (is.factor(column) || is.logical(column)) return("category")
  if (inherits(column, c("Date", "POSIXt"))) return("date")
  if (inherits(column, "difftime") || is.double(column)) return("number")
  if (is.integer(column) || is.character(column)) return("")
  kd_stop("column '", name, "' is of the class ", class(column)[1], ": texts, numbers, dates, factors and logical values are allowed", status = 20L)
}

# The values of a column as cells of a table; missing ones are empty.
column_cells <- function(column) {
  missing <- is.na(column)
  cells <- if (inherits(column, "Date")) format(column)
    else if (inherits(column, "POSIXt")) format(column, "%Y-%m-%dT%H:%M:%S")
    else if (inherits(column, "difftime")) sprintf("%.17g", as.double(column, units = "days"))
    else if (is.factor(column)) quoted(levels(column))[as.integer(column)]
    else if (is.double(column)) sprintf("%.17g", column)
    else if (is.integer(column)) as.character(column)
    else quoted(column)
  cells[missing] <- ""
  cells
}

# A data frame as the text of a table, and the options to read it with.
frame_text <- function(frame, how, model = FALSE) {
  if (!is.null(how$rename)) {
    old <- gsub("\"\"", "\"", sub("^\"(.*)\"=.*$", "\\1", how$rename), fixed = TRUE)
    new <- sub("^\".*\"=", "", how$rename)
    at <- match(old, names(frame))
    names(frame)[at[!is.na(at)]] <- new[!is.na(at)]
    how$model_rename <- how$rename # so that a model keeps it
    how$rename <- NULL
  }
  titles <- names(frame)
  twice <- titles[duplicated(titles)]
  if (length(twice)) kd_stop("two columns are called '", twice[1], "': use different names", status = 20L)
  columns <- lapply(as.list(frame), function(column) if (inherits(column, "AsIs")) unclass(column) else column)
  kinds <- vapply(seq_along(columns), function(j) column_kind(columns[[j]], titles[j]), "")
  cells <- lapply(columns, column_cells)
  named <- titles
  if (.row_names_info(frame) > 0 && is.null(how$id_column)) {
    title <- "row"
    while (title %in% titles) title <- paste0(title, "_")
    titles <- c(title, titles)
    cells <- c(list(quoted(row.names(frame))), cells)
    how$id_column <- title
  }
  if (!is.null(how$columns)) {
    if (lists_columns(how$columns)) kinds[] <- ""
    kinds[named %in% column_items(how$columns)] <- ""
  }
  kinds[named %in% c(how$id_column, how$label_column, how$task_column)] <- ""
  items <- paste0(quoted(named[nzchar(kinds)]), rep("?:", sum(nzchar(kinds))), kinds[nzchar(kinds)])
  if (length(items) && !model) how$columns <- paste(c(how$columns, items), collapse = ",")
  how$typed <- TRUE
  how$delimiter <- ","
  how$encoding <- "utf-8"
  how$header <- TRUE
  lines <- c(paste(quoted(titles), collapse = how$delimiter), do.call(paste, c(unname(cells), list(sep = how$delimiter))))
  lines[!nzchar(lines)] <- "?" # the reader skips blank lines
  list(text = charToRaw(paste0(paste(enc2utf8(lines), collapse = "\n"), "\n")), how = how)
}

# The data sets of a data frame: one, or one for each value of task_column.
read_frame <- function(session, frame, name, how, model = NULL) {
  if (nrow(frame) == 0 || ncol(frame) == 0) kd_stop(name, " has ", nrow(frame), " rows and ", ncol(frame), " columns: at least one of each is needed", status = 20L)
  text <- frame_text(frame, how, !is.null(model))
  tryCatch(read_paths(session, name, name, text$how, FALSE, text$text, model)$sets, kindred_error = function(e) {
    found <- regmatches(e$message, gregexpr("\\bline [0-9]+(, column [0-9]+ \\(([^)]*)\\))?", e$message))
    places <- lapply(found, function(place) {
      row <- as.integer(sub("^line ([0-9]+).*", "\\1", place)) - 1L
      paste0("row ", row, ifelse(grepl("column", place), sub(".*\\((.*)\\)$", ", column '\\1'", place), ""))
    })
    regmatches(e$message, gregexpr("\\bline [0-9]+(, column [0-9]+ \\(([^)]*)\\))?", e$message)) <- places
    stop(e)
  })
}
