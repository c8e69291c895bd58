"""What is kept: records that travel between packages, and the file they are stored in."""
