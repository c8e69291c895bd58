"""Owns what a run says of its judges: figures, labels, rejudging; changes no battle."""
