# Every method runs, and gives the labels of the program if KINDRED names it.
folder <- tempfile("parity")
dir.create(folder)
data <- c(two(), list(c = two(shift = 0.1)$b))
for (name in names(data)) write_csv(data[[name]], file.path(folder, paste0(name, ".csv")))
writeLines(as.character(blobs()$a$y), file.path(folder, "a.labels"))
file <- function(name) file.path(folder, name)
sets <- kd_read(c(a = file("a.csv"), b = file("b.csv"), c = file("c.csv")))

for (id in kd_methods(family = "cluster")$method) local({
  method <- id
  test_that(paste(method, "clusters as the program does"), {
    fit <- quiet(kd_cluster(sets[c("a", "b")], k = 3, method = method, seed = 5, map = FALSE))
    expect_identical(lengths(labels(fit)), c(a = 40L, b = 30L))
    expect_true(all(labels(fit)$a %in% 0:2))
    if (nzchar(Sys.getenv("KINDRED"))) {
      out <- file(paste0(method, ".out"))
      run_program("cluster", "-q", "-m", method, "-k", "3", "--seed", "5", "-o", out, file("a.csv"), file("b.csv"))
      for (name in c("a", "b")) expect_identical(labels(fit)[[name]], as.integer(readLines(file.path(out, paste0(name, ".labels")))))
    }
  })
})
families <- kd_methods(family = "transfer")
for (id in families$method) local({
  method <- id
  bridge <- families$bridge[families$method == method]
  test_that(paste(method, "transfers as the program does"), {
    fit <- quiet(kd_transfer(list(source = sets$a), blobs()$a$y, list(target = sets$b), method = method, seed = 5, map = FALSE,
                             bridges = if (bridge) list(bridge = sets$c)))
    expect_length(labels(fit)$target, 30)
    if (nzchar(Sys.getenv("KINDRED"))) {
      out <- file(paste0(method, ".out"))
      run_program("transfer", "-q", "-m", method, "--source", file("a.csv"), "--labels", file("a.labels"), "--target", file("b.csv"),
                  if (bridge) c("--bridge", file("c.csv")), "--seed", "5", "-o", out)
      expect_identical(as.character(labels(fit)$target), readLines(file.path(out, "target.labels")))
    }
  })
})
