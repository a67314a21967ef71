# Reference values of R's survey for unequal numbers of units: Rscript survey_unequal.R (in this folder)
suppressMessages(library(survey))
options(digits = 15)
out <- NULL
add <- function(data, method, statistic, e, df) {
  out <<- rbind(out, data.frame(dataset = data, method = method, statistic = statistic,
    estimate = as.numeric(coef(e)), se = as.numeric(SE(e)), df = df))
}
for (name in c("unequal_3_5", "equal_6x5", "mixed_2_to_7")) {
  d <- read.csv(paste0(name, ".csv"))
  des <- svydesign(ids = ~psu, strata = ~stratum, weights = ~weight, data = d)
  jkn <- as.svrepdesign(des, type = "JKn", mse = TRUE, compress = FALSE)
  for (pair in list(list("taylor", des), list("JKn/mse", jkn))) {
    add(name, pair[[1]], "mean(x)", svymean(~x, pair[[2]]), degf(des))
    add(name, pair[[1]], "mean(y)", svymean(~y, pair[[2]]), degf(des))
    add(name, pair[[1]], "total(x)", svytotal(~x, pair[[2]]), degf(des))
    add(name, pair[[1]], "ratio(x/z)", svyratio(~x, ~z, pair[[2]]), degf(des))
  }
}
out$r <- R.version.string
out$survey <- as.character(packageVersion("survey"))
for (n in c("estimate", "se")) out[[n]] <- format(out[[n]], digits = 15, trim = TRUE)
write.csv(out, "survey_unequal.csv", row.names = FALSE)
