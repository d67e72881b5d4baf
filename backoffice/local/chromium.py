"""The browser for the browser tests: finds one, else installs Debian's, else says what to type.

`python -m backoffice.local.chromium` prints its path; everything else goes to standard error.
"""

import os
import shutil
import subprocess
import sys

from backoffice.local.processes import StartError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL = "apt-get install --yes --no-install-recommends chromium fonts-wqy-microhei"  # the font shows Chinese


def find_chromium() -> str | None:
    """The path in CHROMIUM, or of the first browser on the PATH. Raises `StartError` when CHROMIUM names none."""
    if given := os.environ.get("CHROMIUM"):
        if path := shutil.which(given):
            return path
        raise StartError(f"CHROMIUM is {given!r}: there is no such program.")
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def install_chromium() -> None:
    """Install it where that needs no password; otherwise leave it."""
    if shutil.which("apt-get") is None:
        return
    become_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if become_root and (shutil.which("sudo") is None or subprocess.run(["sudo", "-n", "true"], check=False).returncode):
        return
    print("Installing Chromium for the browser tests…", file=sys.stderr)
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive"]
    for command in ("apt-get update", INSTALL):
        subprocess.run([*become_root, *quiet, *command.split(), "--quiet"], stdout=sys.stderr, check=False)


def main() -> None:
    try:
        if find_chromium() is None:
            install_chromium()
        path = find_chromium()
    except StartError as error:
        sys.exit(str(error))
    if path is None:
        sys.exit(f"The browser tests need Chromium. Type: sudo {INSTALL}\nor set CHROMIUM to the path of a Chrome.")
    print(path)


if __name__ == "__main__":
    main()
