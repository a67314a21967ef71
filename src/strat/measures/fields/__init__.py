"""The numbers that whole fields report, each a function of totals over its usual unit."""
