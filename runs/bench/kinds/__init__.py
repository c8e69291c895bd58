"""The one table of what a set of each kind is played and scored with; refuses to know an item."""
