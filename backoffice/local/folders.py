"""Data folders: one owner at a time, and a place that an unprivileged server can reach."""

import fcntl
import hashlib
import os
import pwd
import secrets
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

from backoffice.local.processes import StartError


class FolderInUse(StartError):
    """Another process holds this data folder."""


def lock_folder(folder: Path) -> IO[str]:
    """Claim a data folder until the returned file is closed, or this process ends in whatever way.

    Raises `FolderInUse` at once when another process has it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = (folder / "lock").open("a")
    except OSError as error:
        raise StartError(f"The data folder {folder} cannot be used: {error.strerror}.") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        handle.close()
        raise FolderInUse(f"The data folder {folder} is in use by another run.") from None
    return handle


def kept_secret(file: Path) -> str:
    """A random text that stays the same between starts, readable by its owner alone."""
    if not file.exists():
        draft = file.with_suffix(".new")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_hex(32))
        draft.replace(file)
    return file.read_text().strip()


def unprivileged_user(folder: Path) -> pwd.struct_passwd | None:
    """Who PostgreSQL, which refuses to run as root, runs as: None (ourselves) unless we are root.

    The owner of an existing `folder` is kept, so that its files stay readable to the next start.
    """
    if os.geteuid() != 0:
        return None
    if folder.exists() and (owner := folder.stat().st_uid):
        with suppress(KeyError):
            return pwd.getpwuid(owner)
    for name in ("postgres", "nobody", "daemon"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise StartError("PostgreSQL refuses to run as root and there is no user `nobody`: start this as an ordinary user.")


def may(path: Path, user: pwd.struct_passwd, wanted: int) -> bool:
    """Whether `user` has the permission `wanted` (an octal digit such as 0o5) on `path` and may walk to it."""
    path = path.resolve()
    return _allows(path, user, wanted) and all(_allows(parent, user, 0o1) for parent in path.parents)


def _allows(path: Path, user: pwd.struct_passwd, wanted: int) -> bool:
    status = path.stat()
    if status.st_uid == user.pw_uid:
        granted = status.st_mode >> 6
    elif status.st_gid == user.pw_gid:
        granted = status.st_mode >> 3
    else:
        granted = status.st_mode
    return granted & wanted == wanted


def reachable_home(folder: Path, user: pwd.struct_passwd | None) -> Path:
    """`folder`, or a stand-in outside when `user` cannot walk to it: a clone under /root is closed to everyone."""
    folder.mkdir(parents=True, exist_ok=True)
    if user is None or may(folder, user, 0o1):
        return folder
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]
    for base in (Path("/var/lib"), Path(tempfile.gettempdir())):
        if base.is_dir() and may(base, user, 0o1) and os.access(base, os.W_OK):
            return _own_folder(base / f"refund-desk-{name}")
    raise StartError(f"The user {user.pw_name} cannot reach {folder}: move the project out of the closed folder.")


def remove(folder: Path) -> None:
    """Delete a data folder, and PostgreSQL's part of it where that had to lie elsewhere."""
    if (folder / "postgres").is_symlink():
        shutil.rmtree((folder / "postgres").resolve().parent, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


def _own_folder(folder: Path) -> Path:
    """Make the stand-in folder, and refuse one that somebody else put there."""
    folder.mkdir(mode=0o711, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise StartError(f"{folder} belongs to somebody else: remove it, or set DATABASE_URL.")
    folder.chmod(0o711)
    return folder
