"""Running the whole desk on one machine: embedded servers, the orchestrator behind `make demo`, and the test servers.

Nothing in here imports Django, so that a broken setting can be reported before anything starts.
"""
