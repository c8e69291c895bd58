"""Files into frames: finding, probing, choosing instants, decoding. Nobody else may decode."""
