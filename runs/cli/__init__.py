"""The command line, and click alone: a command builds a value and calls a function below."""
