"""Owns what a run says when looked into: boards, audits, trials, categories; plays none."""
