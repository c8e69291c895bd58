"""Owns putting judges to the test with cases of known answer; decides no battle."""
