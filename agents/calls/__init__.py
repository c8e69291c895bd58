"""Making a call: attempts, retries, reading the reply, its row in the journal; knows no role."""
