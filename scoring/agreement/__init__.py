"""How far leaderboards agree, and how far raters do."""
