"""Public ids: a short prefix that says what it is, and random characters of five bits each that nobody can guess."""

import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 20
# People read these aloud and write them on parcels; whose they are is checked all the same.
SPOKEN_LENGTH = 12


def new_id(prefix: str, length: int = LENGTH) -> str:
    """`new_id("rq")` → `rq_` and 20 characters."""
    return f"{prefix}_{''.join(secrets.choice(ALPHABET) for _ in range(length))}"


def payment_id() -> str:
    return new_id("pay")


def shipment_id() -> str:
    return new_id("sh")


def quote_id() -> str:
    return new_id("rq")


def refund_id() -> str:
    return new_id("rf", SPOKEN_LENGTH)


def allocation_id() -> str:
    return new_id("ra")


def return_id() -> str:
    return new_id("rt", SPOKEN_LENGTH)


def approval_id() -> str:
    return new_id("ap", SPOKEN_LENGTH)


def replacement_id() -> str:
    return new_id("rp", SPOKEN_LENGTH)


def card_id() -> str:
    return new_id("card")
