"""Single battles for people and programs: lists, pages, exports."""
