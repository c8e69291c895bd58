"""What a run says of its judges: figures, alarms, labels by people, rejudging."""
