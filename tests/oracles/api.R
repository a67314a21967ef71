# Writes the api data of R's survey package (4.1-1 here) where the tests look for them; they are not part of this project.
# Rscript api.R FOLDER, with FOLDER = $STRAT_SHARED/data/survey
library(survey)
data(api)
folder <- commandArgs(TRUE)[1]
for (name in c("apistrat", "apiclus1", "apiclus2")) write.csv(get(name), file.path(folder, paste0(name, ".csv")), row.names = FALSE)
