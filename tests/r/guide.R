# Runs the R code of docs/r.md in a temporary folder, except below <!-- not run -->.
library(kindred)
lines <- readLines(commandArgs(TRUE)[1], encoding = "UTF-8")
setwd(tempdir())
grDevices::pdf(NULL)
starts <- which(lines == "```r")
run <- 0
for (start in starts) {
  end <- start + which(lines[-seq_len(start)] == "```")[1]
  before <- lines[start - 1]
  if (before == "<!-- not run -->" || (before == "<!-- needs hdf5 -->" && !grepl("hdf5: yes", kd_build()))) next
  code <- parse(text = lines[(start + 1):(end - 1)])
  for (i in seq_along(code)) {
    value <- withVisible(eval(code[[i]], globalenv()))
    if (value$visible) utils::capture.output(print(value$value))
  }
  run <- run + 1
}
stopifnot(run >= 3)
cat(run, "blocks of code ran\n")
