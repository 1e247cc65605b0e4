# The Python side: found once, asked for plain vectors only, so that no version of NumPy matters to reticulate.

.state <- new.env(parent = emptyenv())

bridge <- function() {
  if (is.null(.state$module)) {
    if (!reticulate::py_module_available("discreet")) {
      stop(
        "the Python package 'discreet' is not in ", reticulate::py_config()$python,
        "; install its wheel there or name another Python in RETICULATE_PYTHON",
        call. = FALSE
      )
    }
    folder <- system.file("python", package = "discreet", mustWork = TRUE)
    .state$module <- reticulate::import_from_path("discreet_r", path = folder, convert = FALSE)
  }
  .state$module
}

# Calls a function of the Python side; an error comes back as text and is raised here, without a Python traceback.
ask <- function(name, ...) {
  answer <- reticulate::py_call(reticulate::py_get_attr(bridge(), name), ...)
  fault <- reticulate::py_to_r(reticulate::py_get_item(answer, 0L))
  if (!is.null(fault)) {
    stop(fault, call. = FALSE)
  }
  reticulate::py_get_item(answer, 1L)
}

# A column that classifies: levels as text, positions from 1, missing values as NA. Text is sorted by code point, so
# that the same data give the same table whatever the locale.
classified <- function(x) {
  if (!is.factor(x)) {
    text <- as.character(x)
    x <- factor(text, levels = if (is.numeric(x) || is.logical(x)) {
      as.character(sort(unique(x)))
    } else {
      sort(unique(enc2utf8(text)), method = "radix")
    })
  }
  known <- levels(x)[!is.na(levels(x))] # addNA() makes a level of what is missing
  positions <- match(as.character(x), known)
  list(kind = "factor", levels = as.list(enc2utf8(known)), data = writeBin(positions, raw()))
}

numeric_column <- function(x, name) {
  if (is.factor(x) || !(is.numeric(x) || is.logical(x))) {
    stop("column '", name, "' must hold numbers", call. = FALSE)
  }
  if (is.integer(x) || is.logical(x)) {
    list(kind = "integer", data = writeBin(as.integer(x), raw()))
  } else {
    list(kind = "number", data = writeBin(as.double(x), raw()))
  }
}

# The columns that a call names, as Python takes them.
columns <- function(data, by, numbers = character(), labels = character()) {
  if (!is.data.frame(data)) {
    stop("data must be a data.frame, not ", class(data)[[1L]], call. = FALSE)
  }
  if (!is.character(by) || length(by) == 0L) {
    stop("name the columns of the table: by = c(\"region\", \"sex\")", call. = FALSE)
  }
  wanted <- c(by, numbers, labels)
  if (length(lost <- setdiff(wanted, names(data)))) {
    stop(
      "no column '", lost[[1L]], "' in data; there are: ", paste0("'", names(data), "'", collapse = ", "),
      call. = FALSE
    )
  }
  made <- lapply(wanted, function(name) {
    if (name %in% c(by, labels)) classified(data[[name]]) else numeric_column(data[[name]], name)
  })
  names(made) <- wanted
  made
}

# Hierarchies as (code, parent) pairs: a data.frame with these two columns first, or a named vector parent[code].
parents <- function(hierarchies) {
  lapply(hierarchies, function(h) {
    pairs <- if (is.data.frame(h)) {
      list(as.character(h[[1L]]), as.character(h[[2L]]))
    } else {
      list(names(h), as.character(h))
    }
    list(codes = as.list(enc2utf8(pairs[[1L]])), parents = as.list(enc2utf8(pairs[[2L]])))
  })
}

# A Python table of plain columns as a data.frame.
as_frame <- function(shown) {
  shown <- reticulate::py_to_r(shown)
  made <- lapply(shown$columns, function(column) {
    switch(column$kind,
      factor = factor(
        as.character(unlist(column$levels))[readBin(column$data, "integer", shown$rows)],
        levels = as.character(unlist(column$levels))
      ),
      integer = readBin(column$data, "integer", shown$rows),
      logical = as.logical(readBin(column$data, "integer", shown$rows)),
      number = readBin(column$data, "double", shown$rows),
      text = as.character(unlist(column$values))
    )
  })
  names(made) <- as.character(unlist(shown$names))
  as.data.frame(made, optional = TRUE, stringsAsFactors = FALSE)
}

# A protected or published table as a data.frame that remembers what it is of.
as_table <- function(object) {
  made <- as_frame(ask("cells", object))
  attr(made, "discreet") <- object
  class(made) <- c("discreet_table", "data.frame")
  made
}

plain_frame <- function(x) {
  attr(x, "discreet") <- NULL
  class(x) <- "data.frame"
  x
}

# A part of a table is a plain data.frame: it cannot be audited or written as if it were the whole.
`[.discreet_table` <- function(x, ...) {
  plain_frame(x)[...]
}

print.discreet_table <- function(x, ...) {
  print(plain_frame(x), ...)
  invisible(x)
}

held <- function(x) {
  object <- attr(x, "discreet")
  if (!inherits(x, "discreet_table") || is.null(object) || reticulate::py_is_null_xptr(object)) {
    stop(
      "this needs a whole table from suppress_small_counts(), suppress_dominant_cells(), round_small_counts(), ",
      "cell_key() or read_release(), made in this session",
      call. = FALSE
    )
  }
  if (!identical(plain_frame(x), as_frame(ask("cells", object)))) {
    stop("this table was changed after it was made; what is audited or written is the table as it was made", call. = FALSE)
  }
  object
}
