"""What each role is asked and what comes of its reply; how a call is made is decided below."""
