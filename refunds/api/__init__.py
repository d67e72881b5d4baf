"""The API of refunds: quote, redeem, decline, read, retry, decide. Numbers and steps are those of every other door."""
