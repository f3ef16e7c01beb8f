words <- list(c("rocket", "orbit", "moon", "launch"), c("goal", "match", "league", "keeper"), c("bread", "oven", "flour", "yeast"))
topic_of <- function(n) (seq_len(n) - 1) %% 3 + 1
embedded <- function(n) {
  set.seed(n)
  centres <- matrix(3 * sin(1:72 * 7), 3)
  centres[topic_of(n), ] + matrix(rnorm(n * 24, sd = 0.1), n)
}
texts_of <- function(n) vapply(seq_len(n), function(i) paste(words[[topic_of(n)[i]]][(i %/% 3 + 0:2) %% 4 + 1], collapse = " "), "")
counts_of <- function(n) {
  x <- t(vapply(strsplit(texts_of(n), " "), function(t) as.numeric(unlist(words) %in% t), numeric(12)))
  colnames(x) <- unlist(words)
  x
}

# Every cluster is explained by words of its topic only.
expect_words <- function(fit, dataset, labels, topics = topic_of(length(labels))) {
  features <- summary(fit)$features
  for (topic in 1:3) {
    label <- unique(as.character(labels[topics == topic]))
    expect_length(label, 1)
    found <- features$feature[features$dataset == dataset & features$label == label & features$effect > 0]
    expect_gte(length(intersect(found, words[[topic]])), 3)
    expect_length(intersect(found, unlist(words[-topic])), 0)
  }
}

test_that("texts, data frames and matrices explain clusters", {
  x <- embedded(45)
  plain <- kd_cluster(x, k = 3, map = FALSE)
  for (view in list(texts_of(45), data.frame(body = texts_of(45)), counts_of(45), as.data.frame(counts_of(45)))) {
    column <- if ("body" %in% names(view)) "body"
    fit <- kd_cluster(x, k = 3, explain = view, text_column = column, map = FALSE)
    expect_identical(unname(labels(fit)), unname(labels(plain)))
    expect_words(fit, fit$datasets, labels(fit))
  }
  page <- kd_report(kd_cluster(x, k = 3, explain = texts_of(45)), tempfile(fileext = ".html"))
  expect_match(paste(readLines(page), collapse = ""), texts_of(45)[5], fixed = TRUE)
})

test_that("several data sets and transfer have one view each", {
  x <- list(a = embedded(45), b = embedded(36))
  fit <- kd_cluster(x, k = 3, explain = list(b = texts_of(36), a = counts_of(45)), map = FALSE)
  for (name in names(x)) expect_words(fit, name, labels(fit)[[name]])
  one <- kd_cluster(unname(x), k = 3, method = "kmeans", explain = list(NULL, texts_of(36)), map = FALSE)
  expect_words(one, "task2", labels(one)[[2]])
  tr <- kd_transfer(x$a, topic_of(45), x$b, explain = texts_of(36), map = FALSE)
  expect_words(tr, "target", labels(tr))
})

test_that("samples are compared by both views", {
  # Embeddings tell topics 1 and 3 apart, texts 1 and 2: only both tell all three.
  halves <- function(n) {
    topic <- topic_of(n)
    text <- vapply(seq_len(n), function(i) paste(words[[c(1, 2, 1)[topic[i]]]][(i %/% 3 + 0:2) %% 4 + 1], collapse = " "), "")
    list(x = embedded(n)[seq_len(n) - (topic == 2), ], text = text)
  }
  p <- halves(60)
  q <- halves(48)
  views <- list(p$text, q$text)
  for (both in c(FALSE, TRUE)) {
    fit <- kd_cluster(list(p$x, q$x), k = 3, explain = views, both_views = both, map = FALSE)
    for (t in 1:2) expect_identical(nrow(unique(cbind(labels(fit)[[t]], topic_of(c(60, 48)[t])))) == 3L, both)
    tr <- kd_transfer(p$x, topic_of(60), q$x, "logreg", explain = if (both) views else q$text, both_views = both, map = FALSE)
    expect_identical(all(as.character(labels(tr)) == as.character(topic_of(48))), both)
  }
  expect_error(kd_save(fit, tempfile(fileext = ".h5")), "both views")
  expect_error(kd_cluster(p$x, k = 3, both_views = TRUE), "both_views needs a second view")
})

test_that("rows are matched by names", {
  x <- embedded(45)
  rownames(x) <- paste0("s", 1:45)
  order <- c(45:1)[-(3:4)]
  view <- stats::setNames(texts_of(45), rownames(x))[order]
  expect_warning(fit <- kd_cluster(x, k = 3, explain = view, map = FALSE), "2 rows not in explain are skipped: s42, s43")
  kept <- as.data.frame(fit)
  expect_identical(kept$row, setdiff(1:45, 42:43))
  expect_words(fit, fit$datasets, kept$cluster, topic_of(45)[kept$row])
  frame <- data.frame(body = view, topic = paste0("t", topic_of(45)[order]), row.names = names(view))
  fit <- kd_cluster(x[order, ], k = 3, explain = frame[rev(seq_along(order)), ], text_column = "body", known_column = "topic", map = FALSE)
  expect_setequal(fit$names[[1]], c("t1", "t2", "t3"))
})

test_that("wrong views are errors", {
  x <- embedded(45)
  expect_kindred_error(kd_cluster(x, k = 3, explain = texts_of(44)), "45 rows and explain 44")
  expect_kindred_error(kd_cluster(list(x, x), k = 3, explain = texts_of(45)), "45 entries for 2")
  expect_kindred_error(kd_cluster(x, k = 3, explain = list(texts_of(45), texts_of(45))), "2 entries for 1")
  expect_kindred_error(kd_cluster(list(a = x), k = 3, explain = list(b = texts_of(45))), "has 'b', but the data sets are a")
  expect_kindred_error(kd_cluster(x, k = 3, explain = data.frame(a = texts_of(45)), text_column = "b"), "no column 'b': its columns are a")
})
