# Conditions, and messages of the library in the notation of R. SPDX-License-Identifier: BSD-3-Clause

status_names <- c(`10` = "argument", `11` = "option", `12` = "exists", `20` = "data", `21` = "format", `22` = "read",
                  `30` = "numeric", `40` = "memory", `41` = "size", `50` = "write", `60` = "unsupported", `90` = "internal")

# Raises an error of the class kindred_error. status: a kdr_status, by default that of a wrong argument.
kd_stop <- function(..., status = 10L) {
  kind <- status_names[[as.character(status)]]
  stop(structure(class = c(paste0("kindred_error_", kind), "kindred_error", "error", "condition"),
                 list(message = paste0(...), call = NULL, status = as.integer(status), kind = kind)))
}

kd_warn <- function(message) {
  warning(structure(class = c("kindred_warning", "warning", "condition"), list(message = message, call = NULL)))
}

# Behaves as an interrupt of R does: handlers for interrupts are called, then control returns to the top level.
kd_interrupt <- function(result = NULL) {
  signalCondition(structure(class = c("kindred_interrupt", "interrupt", "condition"),
                            list(message = "interrupted", call = NULL, result = result)))
  invokeRestart("abort")
}

flag_options <- c(transpose = "transpose = TRUE", force = "force = TRUE", guard = "options = list(guard = TRUE)",
                  `no-transfer` = "options = list(transfer = FALSE)", probabilities = "probabilities = TRUE",
                  quality = "quality = TRUE", report = "map = TRUE", `save-model` = "model = TRUE", pooled = "pooled = TRUE", bridge = "bridges", into = "kd_into()",
                  `max-unpacked` = "options(kindred.max_unpacked = BYTES)")

# A message with options in the notation of R: `--missing mean` becomes missing = "mean". Values that kdr_choices() does not list are quoted in messages.
in_r <- function(message) {
  pattern <- "(?<![\\w-])(?:--([a-z][a-z-]*)|-k(?![\\w-]))([ =](?:'[^']*'|[a-z0-9-]+(?:,[0-9]+)*)(?=[\\s,;:)]|$))?"
  message <- gsub("OLD=NEW", "'OLD=NEW'", message, fixed = TRUE)
  found <- gregexpr(pattern, message, perl = TRUE)
  regmatches(message, found) <- lapply(regmatches(message, found), function(options) vapply(options, function(option) {
    name <- sub("^--?([a-z-]*[a-z]).*", "\\1", option)
    rest <- sub("^--?[a-z-]*[a-z]", "", option)
    if (name %in% names(flag_options)) return(paste0(flag_options[[name]], rest))
    value <- gsub("^[ =]'?|'$", "", rest)
    spelt <- gsub("-", "_", name)
    if (name == "rename" && grepl("=", value)) return(sub("^(.*)=(.*)$", 'rename = c("\\1" = "\\2")', value))
    if (grepl("^[0-9]+(,[0-9]+)+$", value)) return(paste0(spelt, " = c(", gsub(",", ", ", value), ")"))
    if (grepl("^[0-9]+$", value)) return(paste0(spelt, " = ", value))
    values <- if (name == "k") c("auto", "3-8") else .Call(C_values, name)
    if (nzchar(rest) && (value %in% values || grepl("'", rest))) paste0(spelt, ' = "', value, '"') else paste0(spelt, rest)
  }, ""))
  message
}

nearest <- function(name, known) {
  distance <- utils::adist(name, known, ignore.case = TRUE)[1, ]
  known[order(distance)][seq_len(min(3, sum(distance <= max(2, nchar(name) / 3))))]
}

suggestion <- function(name, known) {
  near <- nearest(name, known)
  if (length(near)) paste0("; did you mean ", paste0("'", near, "'", collapse = ", "), "?") else ""
}

no_more <- function(dots, known) {
  if (length(dots) == 0) return(invisible())
  name <- names(dots)[nzchar(names(dots))][1]
  if (length(name) == 0 || is.na(name)) kd_stop("too many arguments without a name (", length(dots), "): name every argument after the first")
  kd_stop("unknown argument '", name, "'", suggestion(name, known))
}

# --- sessions: one for each call of a function of this package

session_open <- function(seed = 1, threads = NULL, time_limit = NULL, max_memory = NULL, progress = FALSE) {
  number <- function(value, name, least, otherwise) {
    if (is.null(value)) return(otherwise)
    if (!is.numeric(value) || length(value) != 1 || is.na(value) || value < least)
      kd_stop(name, " is ", shown(value), ": use one number of at least ", least)
    as.double(value)
  }
  seed <- number(seed, "seed", 0, 1)
  if (seed != floor(seed) || seed > 2^53) kd_stop("seed is ", shown(seed), ": use a whole number from 0 to 2^53")
  settings <- list(seed = seed, threads = number(threads, "threads", 0, 0), time_limit = number(time_limit, "time_limit", 0, 0),
                   max_memory = number(max_memory, "max_memory", 0, 0),
                   max_unpacked = number(getOption("kindred.max_unpacked"), "option kindred.max_unpacked", 0, 0))
  session <- new.env(parent = emptyenv())
  session$warnings <- character()
  session$interrupted <- FALSE
  session$error <- NULL
  show <- if (is.function(progress)) progress else if (isTRUE(progress)) progress_bar() else NULL
  callback <- if (is.null(show)) NULL else function(event) tryCatch(isTRUE(show(event)), error = function(e) {
    session$error <- e
    TRUE
  })
  session$pointer <- .Call(C_session_new, settings, callback)
  session$sets <- list()
  session
}

session_close <- function(session) {
  for (set in session$sets) .Call(C_data_release, set)
  .Call(C_session_free, session$pointer)
}

call_routine <- .Call

# Calls a function of C with a session, and raises the error if it failed. keeps: after an interrupt the caller uses the result.
call_c <- function(session, routine, ..., keeps = FALSE) {
  out <- call_routine(routine, session$pointer, ...)
  state <- .Call(C_session_state, session$pointer)
  session$warnings <- unique(c(session$warnings, state$warnings))
  if (!is.null(session$error)) stop(session$error)
  session$interrupted <- state$interrupted
  if (state$interrupted && !(keeps && state$status == 0L)) kd_interrupt()
  if (state$status != 0L) kd_stop(in_r(state$message), status = state$status)
  out
}

# Registers data sets that are released when the session is closed.
owned <- function(session, sets) {
  session$sets <- c(session$sets, sets)
  sets
}

shown <- function(value) {
  text <- paste(deparse(value, nlines = 2L), collapse = " ")
  if (nchar(text) > 60) paste0(substr(text, 1, 57), "...") else text
}

progress_bar <- function() {
  function(event) {
    if (event$kind == "end" || !isTRUE(event$fraction >= 0)) return(FALSE)
    rest <- if (isTRUE(event$remaining >= 0)) sprintf(", %.0f s remaining", event$remaining) else ""
    cat(sprintf("\r%-12s %3.0f %%%-20s", event$stage, 100 * event$fraction, rest), file = stderr())
    if (event$fraction >= 1) cat("\n", file = stderr())
    FALSE
  }
}
