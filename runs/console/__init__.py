"""Following work as it goes: events, live screen, plain lines, status, costs."""
