"""What is remembered: the vocabulary, the errors, a run's one file, the journal of calls."""
