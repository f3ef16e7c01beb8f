# Labels of R for the plan of golden.py, which describes its columns.
library(kindred)
plan <- read.delim(commandArgs(TRUE)[1], header = FALSE, colClasses = "character", quote = "")
for (i in seq_len(nrow(plan))) {
  row <- unlist(plan[i, ], use.names = FALSE)
  paths <- strsplit(row[4], ";", fixed = TRUE)[[1]]
  text <- tryCatch(suppressWarnings({
    found <- if (row[2] == "cluster") labels(kd_cluster(paths, k = 3, method = row[3], seed = 5, map = FALSE))
      else labels(kd_transfer(list(source = paths[1]), readLines(row[5]), list(target = paths[2]), method = row[3], seed = 5, map = FALSE,
                              bridges = if (row[6] != "-") list(bridge = row[6])))
    vapply(found, function(part) paste(ifelse(is.na(part), "?", as.character(part)), collapse = " "), "")
  }), kindred_error = function(e) "error")
  writeLines(text, paste0(row[7], ".r"))
}
