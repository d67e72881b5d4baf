"""Public ids: a short prefix that says what it is, and 100 random bits that nobody can guess."""

import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 20


def new_id(prefix: str) -> str:
    """`new_id("rq")` → `rq_` and 20 characters."""
    return f"{prefix}_{''.join(secrets.choice(ALPHABET) for _ in range(LENGTH))}"


def payment_id() -> str:
    return new_id("pay")


def shipment_id() -> str:
    return new_id("sh")


def quote_id() -> str:
    return new_id("rq")


def refund_id() -> str:
    return new_id("rf")


def allocation_id() -> str:
    return new_id("ra")


def return_id() -> str:
    return new_id("rt")


def card_id() -> str:
    return new_id("card")
