"""What lies in a folder of videos: the usable ones, and their subtitle files."""
