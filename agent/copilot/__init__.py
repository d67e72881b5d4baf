"""The staff's copilot: it reads, says what it has found, and drafts. It cannot act.

`threads` asks, `loop` works on it, `request` builds what the model is sent, `replies` keeps what it says, `calls` runs
its tools, `drafts` keeps what it suggests, `words` tells how a run has ended.
"""
