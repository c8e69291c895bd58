"""What `import videoautoarena` offers: runs, benches and battles as values; calls no model."""
