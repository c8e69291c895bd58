"""Statistics of battles: arrays in, figures out; knows no record, file or model of ours."""
