"""What a person starts: commands, configuration, the schedule, freezing, reading a run."""
