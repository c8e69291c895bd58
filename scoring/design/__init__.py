"""Planning a tournament: who meets whom, how many battles, when to stop."""
