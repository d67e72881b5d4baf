"""Pictures of every page for docs/screens/: `make screens`, which is `python -m tests.gallery`."""
