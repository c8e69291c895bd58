"""What calls may take of servers and of money: pacing, budgets, prices, estimates."""
