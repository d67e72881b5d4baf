"""The evaluation: the same tasks, the same model, and only the interface changed. How often is the refund right?

`tasks` reads what is played and `plan` says in which order; `servers` makes a scratch database and `worker` plays in
it: `playing` goes through one task with one of the toolsets (`ours`, `raw`), `seen` reads the rows afterwards and
`grading` judges them. `running` hands out and collects, `summary` adds up, `keeping` stores, `report` tells.

The raw tools take amounts: nothing but the worker's side of this package may import them, and they refuse to work
outside a scratch database.
"""
