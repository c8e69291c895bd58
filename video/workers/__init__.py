"""The confined processes that open files from outside, and the queue before them."""
