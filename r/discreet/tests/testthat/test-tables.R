people <- function(n = 200) {
  set.seed(7)
  data.frame(
    region = factor(sample(c("N", "S", "W"), n, TRUE, c(0.6, 0.38, 0.02)), levels = c("W", "S", "N", "E")),
    sex = sample(c("m", "f"), n, TRUE),
    turnover = round(rexp(n) * 100, 1),
    key = sample.int(.Machine$integer.max, n)
  )
}

test_that("counts are those of table(), levels keep their order, unused ones are empty cells", {
  d <- people()
  made <- suppress_small_counts(d, c("region", "sex"), under = 1)
  expect_s3_class(made, "data.frame")
  expect_identical(levels(made$region), c("Total", "W", "S", "N", "E"))
  expect_identical(levels(made$sex), c("Total", "f", "m"))
  expect_type(made$count, "integer")
  counts <- addmargins(table(d$region, d$sex))
  at <- function(x) ifelse(x == "Total", "Sum", as.character(x))
  expect_equal(made$count, as.integer(counts[cbind(at(made$region), at(made$sex))]))
})

test_that("a suppressed count is NA, and primary cells are those below the threshold", {
  d <- people()
  made <- suppress_small_counts(d, c("region", "sex"), under = 5)
  open <- suppress_small_counts(d, c("region", "sex"), under = 1)
  expect_type(made$primary, "logical")
  expect_identical(is.na(made$count), made$suppressed)
  expect_identical(made$primary, open$count > 0 & open$count < 5)
  expect_true(any(made$suppressed & !made$primary))
  expect_identical(made$count[!made$suppressed], open$count[!made$suppressed])
})

test_that("cells with counts are the same table as the records, whatever their order and totals", {
  d <- people()
  cells <- as.data.frame(table(region = d$region, sex = d$sex), responseName = "n")
  by <- c("region", "sex")
  expect_identical(suppress_small_counts(cells, by, freq = "n")[], suppress_small_counts(d, by)[])
  all <- as.data.frame(addmargins(table(region = d$region, sex = d$sex)), responseName = "n")
  expect_identical(suppress_small_counts(all, by, freq = "n", total = "Sum")$count, suppress_small_counts(d, by)$count)
})

test_that("NA is an error until it has a category", {
  d <- people()
  d$sex[c(3, 8)] <- NA
  expect_error(suppress_small_counts(d, c("region", "sex")), "column 'sex': 2 missing values")
  made <- suppress_small_counts(d, c("region", "sex"), under = 1, missing = "unknown")
  expect_identical(made$count[made$region == "Total" & made$sex == "unknown"], 2L)
  d$sex <- addNA(d$sex)
  expect_error(suppress_small_counts(d, c("region", "sex")), "2 missing values")
  d$turnover[1] <- NA
  expect_error(suppress_dominant_cells(d, "region", "turnover"), "turnover")
})

test_that("codes may be numbers, truth values and words of any language", {
  d <- data.frame(size = c(10, 9, 10, 2), member = c(TRUE, FALSE, TRUE, TRUE), ort = c("Öl", "Aß", "Zürich", "Öl"))
  made <- suppress_small_counts(d, c("size", "member", "ort"), under = 1)
  expect_identical(levels(made$size), c("Total", "2", "9", "10"))
  expect_identical(levels(made$member), c("Total", "FALSE", "TRUE"))
  expect_identical(levels(made$ort), c("Total", "Aß", "Zürich", "Öl"))
})

test_that("hierarchies are data frames of code and parent, or named vectors", {
  d <- people()
  pairs <- data.frame(code = c("W", "N", "S", "E"), parent = c("upper", "upper", "lower", "lower"))
  one <- suppress_small_counts(d, c("region", "sex"), hierarchies = list(region = pairs))
  two <- suppress_small_counts(
    d, c("region", "sex"),
    hierarchies = list(region = c(W = "upper", N = "upper", S = "lower", E = "lower"))
  )
  expect_identical(one[], two[])
  expect_true("upper" %in% levels(one$region))
  expect_error(
    suppress_small_counts(d, c("region", "sex"), hierarchies = list(region = c(W = "upper"))), "finest codes"
  )
})

test_that("a dominant cell is hidden", {
  d <- data.frame(area = c("a", "a", "b", "b", "c"), x = c(95, 5, 50, 50, 20))
  made <- suppress_dominant_cells(d, "area", "x", n = 1, k = 90)
  expect_identical(made$primary, c(FALSE, TRUE, FALSE, TRUE))
  expect_identical(is.na(made$x), made$suppressed)
  p <- suppress_dominant_cells(d, "area", "x", n = numeric(), k = numeric(), p = 10)
  expect_true(all(p$primary[p$area %in% c("a", "c")]))
  expect_error(suppress_dominant_cells(d, "area", "x", n = 1:2, k = 90), "go together")
})

test_that("rounded tables add up and have no small counts", {
  made <- round_small_counts(people(), c("region", "sex"), base = 5, seed = 1)
  expect_false(any(made$count > 0 & made$count < 5))
  inner <- made$region != "Total" & made$sex != "Total"
  expect_identical(sum(made$count[inner]), made$count[1])
})

test_that("cell keys give the same noise to the same records", {
  d <- people()
  one <- cell_key(d, c("region", "sex"), key = "key")
  two <- cell_key(d[nrow(d):1, ], c("region", "sex"), key = "key")
  expect_identical(one[], two[])
  expect_false(identical(one$count, suppress_small_counts(d, c("region", "sex"), under = 1)$count))
  expect_error(cell_key(d, "sex"), "either")
  expect_error(cell_key(d, "sex", freq = "key", key = "key"), "seed")
})

test_that("an audit of what is published holds the truth; a table that was changed is not audited", {
  d <- people()
  made <- suppress_small_counts(d, c("region", "sex"), under = 5)
  found <- audit(made)
  expect_identical(attr(found, "verdict"), "pass")
  expect_identical(nrow(found), sum(made$suppressed))
  expect_false("true" %in% names(found))
  expect_true(all(found$upper > found$lower))
  expect_error(audit(made[1:3, ]), "whole table")
  made$count[1] <- 0L
  expect_error(audit(made), "changed")
  expect_error(write_release(made, tempfile(fileext = ".csv")), "changed")
})

test_that("risk is a data.frame of measures", {
  d <- people()
  before <- assess(d, c("region", "sex"))
  after <- assess(d, c("region", "sex"), after = round_small_counts(d, c("region", "sex"), seed = 1))
  expect_identical(names(before), c("measure", "value", "meaning"))
  expect_true("r1" %in% before$measure)
  expect_gt(nrow(after), nrow(before))
  expect_identical(attr(after, "notes"), character(0))
  hidden <- suppress_small_counts(d, c("region", "sex"), under = 5)
  expect_gt(sum(hidden$suppressed), 0)
  expect_message(found <- assess(d, c("region", "sex"), after = hidden), "inner cells are not shown.*audit")
  expect_identical(found$measure, before$measure)
  expect_match(attr(found, "notes"), "not shown")
})

test_that("what is written can be read, without the truth", {
  made <- suppress_small_counts(people(), c("region", "sex"), under = 5)
  path <- tempfile("ä table ", fileext = ".csv")
  write_release(made, path)
  found <- read_release(path)
  expect_identical(found$count, made$count)
  expect_identical(found$suppressed, made$suppressed)
  expect_null(found$primary)
  expect_error(write_release(made, tempfile(fileext = ".nonsense")), "nonsense")
})

test_that("messages name what is wrong", {
  d <- people()
  expect_error(suppress_small_counts(d, "regio"), "no column 'regio'")
  expect_error(suppress_small_counts(as.matrix(d), "region"), "data.frame")
  expect_error(suppress_small_counts(d, "region", under = 2.5), "whole number")
  expect_error(suppress_dominant_cells(d, "region", "sex"), "must hold numbers")
})
