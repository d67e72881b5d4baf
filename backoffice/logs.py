"""What reaches the log of the web: a refused request is one line, a fault keeps its traceback."""

import logging

FAULT = 500


class RefusalsInOneLine(logging.Filter):
    """Takes the traceback from what Django logs of a request that was refused, such as a 403 or a body too large."""

    def filter(self, record: logging.LogRecord) -> bool:
        status = getattr(record, "status_code", FAULT)
        if record.name.startswith("django.") and status < FAULT:
            record.exc_info, record.exc_text = None, None
        return True
