"""Owns what all commands share: entry points, endings, options; holds no command."""
