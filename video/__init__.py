"""Files into frames: finding, probing, choosing instants, decoding, JPEG. The only place that imports a decoder."""
