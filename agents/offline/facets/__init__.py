"""Facts that can be measured in frames, asked for, claimed and checked."""
