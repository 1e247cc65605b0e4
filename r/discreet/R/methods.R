suppress_small_counts <- function(data, by, freq = NULL, under = 3, zeros = FALSE, hierarchies = list(),
                                  missing = NULL, total = "Total") {
  table <- counted(data, by, freq, hierarchies, missing, total)
  as_table(ask("suppress_small_counts", table, under, zeros))
}

suppress_dominant_cells <- function(data, by, value, n = 1, k = 75, p = NULL, holding = NULL, hierarchies = list(),
                                    missing = NULL, total = "Total") {
  given <- columns(data, by, value, as.character(holding))
  table <- ask(
    "of_records", given, as.list(by), parents(hierarchies), missing, total,
    reticulate::dict(value = value, holding = holding)
  )
  as_table(ask("suppress_dominant_cells", table, as.list(n), as.list(k), p))
}

round_small_counts <- function(data, by, freq = NULL, base = 3, seed = NULL, hierarchies = list(), missing = NULL,
                               total = "Total") {
  table <- counted(data, by, freq, hierarchies, missing, total)
  as_table(ask("round_small_counts", table, base, seed))
}

cell_key <- function(data, by, freq = NULL, key = NULL, d = 2, v = 1, js = 0, pstay = NULL, seed = NULL,
                     hierarchies = list(), missing = NULL, total = "Total") {
  if (is.null(key) == is.null(seed)) {
    stop("give either the column of record keys (key =) or a seed (seed =)", call. = FALSE)
  }
  table <- counted(data, by, freq, hierarchies, missing, total, key)
  as_table(ask("cell_key", table, d, v, js, pstay, seed))
}

assess <- function(data, by, freq = NULL, after = NULL, hierarchies = list(), missing = NULL, total = "Total") {
  table <- counted(data, by, freq, hierarchies, missing, total)
  found <- ask("assess", table, if (is.null(after)) NULL else held(after))
  made <- as_frame(reticulate::py_get_item(found, "measures"))
  notes <- as.character(unlist(reticulate::py_to_r(reticulate::py_get_item(found, "notes"))))
  attr(made, "notes") <- notes
  for (note in notes) {
    message(note)
  }
  made
}

audit <- function(x) {
  found <- ask("audit", held(x))
  made <- as_frame(reticulate::py_get_item(found, "cells"))
  attr(made, "verdict") <- reticulate::py_to_r(reticulate::py_get_item(found, "verdict"))
  made
}

write_release <- function(x, path, title = "", source = "") {
  ask("write_release", held(x), path.expand(path), title, source)
  invisible(path)
}

read_release <- function(path) {
  as_table(ask("read_release", path.expand(path)))
}

# Records (freq is NULL) or cells with their counts, as a Python table.
counted <- function(data, by, freq, hierarchies, missing, total, key = NULL) {
  given <- columns(data, by, c(freq, key))
  if (is.null(freq)) {
    return(ask("of_records", given, as.list(by), parents(hierarchies), missing, total, reticulate::dict(key = key)))
  }
  if (!is.null(key)) {
    stop("record keys (key =) are for records; a table of counts (freq =) takes a seed (seed =)", call. = FALSE)
  }
  ask("of_cells", given, as.list(by), freq, parents(hierarchies), missing, total)
}
