"""Owns the paid job: order, plan, caps, tally, recall and the way on after a kill; asks nothing."""
