"""From a file to chosen frames as JPEG: containers, indexes, decoders, damage."""
