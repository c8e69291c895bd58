"""What a run says, as pictures for a paper; the only place that imports matplotlib."""
