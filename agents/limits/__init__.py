"""Owns what calls may take of servers and money: rates, budgets, prices; sends nothing."""
