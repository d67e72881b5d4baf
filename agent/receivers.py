"""Connects the signals of refunds to the conversation they concern."""
