"""Pictures and clips that are made here: samples, splices, contact sheets."""
