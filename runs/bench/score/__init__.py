"""Results of a bench as figures: scores, comparisons, validity."""
