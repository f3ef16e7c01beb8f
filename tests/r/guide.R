# Runs the R code of the given pages in a temporary folder, except below <!-- not run -->.
library(kindred)
pages <- lapply(commandArgs(TRUE), readLines, encoding = "UTF-8")
setwd(tempdir())
grDevices::pdf(NULL)
for (name in c("north", "south")) utils::write.csv(data.frame(age = 20 + 15 * rep(0:3, 20) + sin(1:80), income = 30 * rep(0:1, 40) + cos(1:80)), paste0(name, ".csv"), row.names = FALSE)
for (lines in pages) {
  unlink("report.html") # what the page before wrote
  run <- 0
  for (start in which(lines == "```r")) {
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
  stopifnot(run >= 1, file.exists("report.html"))
  cat(run, "blocks of code ran\n")
}
