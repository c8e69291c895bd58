"""How sure a figure is: sandwich, clusters, proportions, ranks."""
