"""Fixtures for every test in `tests/`; those for all tests of the repository are in the conftest beside manage.py."""
