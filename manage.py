#!/usr/bin/env python
"""Django's command line for Refund Desk."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        # A wrong environment value is the operator's to mend: one sentence, no traceback.
        sys.exit(f"Refund Desk cannot start: {error}")


if __name__ == "__main__":
    main()
