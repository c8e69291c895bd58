"""Owns what `import videoautoarena` offers: runs, benches, battles as values; calls no model."""
