"""What a message held and what is measured in its frames; speaks no language."""
