"""Measurements: `make bench`. None of it is a test."""
