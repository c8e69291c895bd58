"""The offline models in their roles: examiner, personas, contestants, judge, evolver."""
