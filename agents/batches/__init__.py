"""Owns batches as providers take them: files, lists, states, results; decides no call's fate."""
