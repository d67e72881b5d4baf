"""The log: one JSON object per line, of whatever library, with the ids of what it is about.

What is bound (request, job, conversation, turn, tool call) stands on every line that is written meanwhile, on
those of Django, Celery and the database driver too. Ids and numbers only: no words of customers, no addresses.
`docs/watching.md` says what each line means.
"""

import logging
import re
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

import structlog

FAULT = 500
NAMES_FIRST: Final = ("timestamp", "level", "event")
# PostgreSQL shows the row or the key that it does not take, with whatever somebody wrote in it.
ROW_SHOWN: Final = re.compile(r"\nDETAIL:.*?(?=\n\n(?:The above|During handling of the above) exception|\Z)", re.DOTALL)


class RefusalsInOneLine(logging.Filter):
    """Takes the traceback from what Django logs of a request that was refused, such as a 403 or a body too large."""

    def filter(self, record: logging.LogRecord) -> bool:
        status = getattr(record, "status_code", FAULT)
        if record.name.startswith("django.") and status < FAULT:
            record.exc_info, record.exc_text = None, None
        return True


def in_order(logger: Any, name: str, line: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """When, how grave and what come first; the rest as it was bound."""
    return {key: line[key] for key in NAMES_FIRST if key in line} | dict(line)


def without_rows(logger: Any, name: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A traceback without the rows of the database that it tells of: only which rule they broke."""
    if "exception" in line:
        line["exception"] = ROW_SHOWN.sub("", line["exception"])
    return line


# For lines of every library, before they are put into JSON.
SHARED: Final = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


class JsonLines(structlog.stdlib.ProcessorFormatter):
    """Python's log records, structlog's among them, as JSON: one line each, tracebacks included."""

    def __init__(self) -> None:
        super().__init__(
            foreign_pre_chain=[*SHARED, structlog.stdlib.ExtraAdder(allow=["status_code"])],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                without_rows,
                in_order,
                structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
            ],
        )


def configure_structlog() -> None:
    """Structlog hands its lines to Python's logging, which `LOGGING` in the settings sends through `JsonLines`.

    So do the warnings of libraries, which else are lines of their own on the console.
    """
    logging.captureWarnings(True)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def logging_settings(level: str) -> dict[str, Any]:
    """`LOGGING` for Django: everything to the console, as JSON; libraries that tell too much only when it is grave."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "backoffice.logs.JsonLines"}},
        "filters": {"refusals": {"()": "backoffice.logs.RefusalsInOneLine"}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json", "filters": ["refusals"]}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            "httpx2": {"level": "WARNING"},
            "anthropic": {"level": "WARNING"},
            "mcp": {"level": "WARNING"},
            # A job's own lines tell what it does; that it came and went is two lines more for each.
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
            # These come with handlers of their own; here their lines are like all others.
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": "WARNING", "propagate": True},
            "uvicorn": {"handlers": [], "level": level, "propagate": True},
            # Addresses hold secrets. What the server's own option says of them is undone by these settings.
            "uvicorn.access": {"level": "WARNING"},
        },
    }
