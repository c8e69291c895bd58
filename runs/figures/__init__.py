"""Pictures for papers, and matplotlib alone; every number comes from below."""
