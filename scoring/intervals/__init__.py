"""Owns how sure a figure is: sandwich, clusters, proportions, ranks; counts no battle."""
