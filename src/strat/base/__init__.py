"""What every other part stands on: errors, checks of arguments, notes, words, and what every result can do."""
