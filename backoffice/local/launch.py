"""Becomes another program that ends together with the process that started it. Standard library only.

    python launch.py SIGNAL PARENT_PID UID GID program argument…

Asks the kernel to send SIGNAL when the parent ends, changes to UID and GID (-1: stays who it is), then turns into the
program. A program of its own because doing this between fork and exec is not safe in a process with threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def become(death_signal: int, parent: int, uid: int, gid: int, command: list[str]) -> None:
    if uid >= 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background shell may have left it ignored
    if sys.platform == "linux":
        # After the change of user, which would undo it.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
        if os.getppid() != parent:  # it ended before the request was made
            sys.exit(1)
    os.execv(command[0], command)


if __name__ == "__main__":
    death_signal, parent, uid, gid = (int(number) for number in sys.argv[1:5])
    become(death_signal, parent, uid, gid, sys.argv[5:])
