"""The stand-in model: a rule-based script behind the Messages API, for demos, tests and load without a key.

It never touches the database. Everything it knows stands in the request, as for a real model: `server` and `app` speak
HTTP, `request_rules` and `tool_rules` refuse what the real API refuses, `usage` counts, `frames` streams, `control` and
`misbehaviour` let tests make it fail, `brain` thinks.
"""
