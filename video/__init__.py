"""Videos as files: found, probed, sampled and decoded in confined processes; knows no model."""
