"""The whole desk on one machine: servers, web, workers, beat and, without an API key, the stand-in model.

`make demo` and the browser and kill tests run the same class. Everything it keeps lies in one data folder.
"""

import hashlib
import json
import os
import signal
import sys
import urllib.request
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import IO

from backoffice.local.folders import kept_secret, lock_folder
from backoffice.local.messages import BrokenTranslation, compile_stale
from backoffice.local.preflight import check_port, check_servers, check_settings
from backoffice.local.processes import StartError, free_port, last_lines, poll_until
from backoffice.local.servers import PostgresServer, ValkeyServer
from backoffice.local.supervisor import Program, Supervisor

ROOT = Path(__file__).resolve().parents[2]
READY_WITHIN = 120.0
DEMO_RETURN_ADDRESS = "106 台北市大安區示範路二段 2 號 退貨組（示範地址）"
# Who works on which queues, with how many threads. A turn waits for the model nearly all its life: a thread that waits
# costs little, a customer who waits for a thread waits long. Python runs one thread of a process at a time, so turns
# have two processes. Refunds wait for the gateway. The last worker has a thread for each sweep, two more for steps of
# money that wait for others (`refunds.tasks.STEPS`), and one to spare: each runs once at a time (`orders/jobs.py`), so
# none can keep another from running, and a shop whose server hangs holds one thread that nobody else needs.
WORKERS = {
    "chat_worker": ("chat", 256),
    "chat_worker_2": ("chat", 256),
    "money_worker": ("money,celery", 8),
    "sweep_worker": ("sweep,shop", 10),
}
CHAT_WORKERS = tuple(name for name, (queues, _) in WORKERS.items() if queues == "chat")
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy does not know our loopback


class Stack:
    """The running system. `port` is the web's; `folder` holds data and one log per process.

    `env` replaces the environment it starts from (default: this process's). An empty or missing `DATABASE_URL` or
    `REDIS_URL` there means an embedded server; an empty `ANTHROPIC_API_KEY` means the stand-in model. With
    `durable=False` the embedded servers are fast and forget everything in a power cut.
    """

    def __init__(
        self,
        *,
        folder: Path,
        port: int,
        env: Mapping[str, str] | None = None,
        seed: bool = True,
        durable: bool = True,
    ) -> None:
        self.folder = folder
        self.port = port
        self.seed = seed
        self.durable = durable
        self.given = {**(os.environ if env is None else env)}
        self.env = {**self.given}
        self.supervisor = Supervisor()
        self._lock: IO[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def database_url(self) -> str:
        return self.env["DATABASE_URL"]

    @property
    def redis_url(self) -> str:
        return self.env["REDIS_URL"]

    def start(self) -> None:
        """Return when `/readyz` is green. Raises `StartError` (one sentence) after stopping whatever had started."""
        check_port(self.port)
        self._lock = lock_folder(self.folder)
        self.folder.chmod(0o711)  # PostgreSQL of a root user runs as somebody else and must walk through
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop everything, web and workers first, the database last."""
        self.supervisor.stop(together=("web", *WORKERS, "beat"))
        self.supervisor = Supervisor()
        if self._lock is not None:
            (self.folder / "environment").unlink(missing_ok=True)
            self._lock.close()
            self._lock = None

    def kill(self, name: str) -> None:
        """SIGKILL one of `WORKERS` or `web beat model postgres valkey`; it comes back."""
        self.supervisor.kill(name)

    def hold(self, name: str) -> None:
        """Leave `name` dead once it ends, until `release`."""
        self.supervisor.hold(name)

    def release(self, name: str) -> None:
        """Bring `name` back, and keep bringing it back."""
        self.supervisor.release(name)

    def manage(self, *arguments: str) -> str:
        """Run `manage.py` against this stack and return what it printed. Raises `StartError`."""
        log = self.folder / "logs" / f"manage_{arguments[0]}.log"
        log.unlink(missing_ok=True)
        command = Program([sys.executable, ROOT / "manage.py", *arguments], log=log, env=self.env, cwd=ROOT)
        try:
            command.start()
            failed = command.process is None or command.process.wait()
        finally:
            command.stop()
        if failed:
            raise StartError(f"manage.py {' '.join(arguments)} failed; see {log}.\n{last_lines(log)}")
        return log.read_text()

    def wait_ready(self, timeout: float = READY_WITHIN) -> None:
        """Wait for `/readyz`. Raises `StartError` when a process ends meanwhile, or after `timeout` seconds."""
        if not poll_until(lambda: self.ready() or self.supervisor.failure() is not None, timeout=timeout, every=0.1):
            raise StartError(f"{self.url}/readyz did not turn green in {timeout:.0f} seconds; see {self.folder}/logs.")
        if failure := self.supervisor.failure():
            raise StartError(failure)

    def ready(self) -> bool:
        try:
            with DIRECT.open(f"{self.url}/readyz", timeout=3) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def _start(self) -> None:
        self._prepare_environment()
        check_settings(env=self.env, cwd=ROOT)
        compile_messages()
        self._keep_previous_logs()
        self._start_servers()
        if not self.env.get("ANTHROPIC_API_KEY"):
            self._start_model()
        self._migrate_and_seed()
        self._write_environment()
        self._start_web()
        self._start_workers()
        self.wait_ready()
        self.supervisor.watch()

    def _prepare_environment(self) -> None:
        """Fill in what the settings need and the user need not know. What is set stays as it is."""
        self.env = self.given | {"DJANGO_SETTINGS_MODULE": "backoffice.settings", "PYTHONUNBUFFERED": "1"}
        self.env |= {"PORT": str(self.port), "NO_PROXY": ",".join(filter(None, [*_no_proxy(self.given), "127.0.0.1"]))}
        self.embedded = [name for name in ("DATABASE_URL", "REDIS_URL") if not self.env.get(name)]
        if not self.env.get("SECRET_KEY"):
            self.env["SECRET_KEY"] = kept_secret(self.folder / "django.secret")
        if self.seed:
            self.env.setdefault("DEMO", "true")
            self.env.setdefault("RETURN_ADDRESS", DEMO_RETURN_ADDRESS)
        if not self.env.get("SITE_URL"):
            self.env["SITE_URL"] = f"http://localhost:{self.port}"
        # Until the embedded servers have their addresses, the settings are checked with well-formed ones.
        placeholders = {"DATABASE_URL": "postgres://127.0.0.1/none", "REDIS_URL": "redis://127.0.0.1/0"}
        self.env |= {name: placeholders[name] for name in self.embedded}

    def _keep_previous_logs(self) -> None:
        logs = self.folder / "logs"
        logs.mkdir(exist_ok=True)
        for log in logs.glob("*.log"):
            log.replace(log.with_suffix(".previous"))

    def _start_servers(self) -> None:
        if "REDIS_URL" in self.embedded:
            valkey = ValkeyServer(folder=self.folder, durable=self.durable)
            self.supervisor.add("valkey", valkey)
            self.env["REDIS_URL"] = valkey.url
        if "DATABASE_URL" in self.embedded:
            postgres = PostgresServer(folder=self.folder, durable=self.durable)
            self.supervisor.add("postgres", postgres)
            self.env["DATABASE_URL"] = postgres.url
        check_servers(env=self.env)

    def _start_model(self) -> None:
        port = free_port()
        self.env |= {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
            "ANTHROPIC_API_KEY": "stand-in",
            "AGENT_IS_STAND_IN": "true",
        }
        self._add("model", ROOT / "manage.py", "offline_model", "--port", str(port))

    def _start_web(self) -> None:
        options = ["--host", "127.0.0.1", "--port", str(self.port), "--timeout-graceful-shutdown", "3"]
        options += ["--loop", "uvloop", "--http", "httptools", "--lifespan", "on", "--no-access-log"]
        self._add("web", "-m", "uvicorn", "backoffice.asgi:application", *options)

    def _start_workers(self) -> None:
        celery = ("-m", "celery", "--quiet", "-A", "backoffice")  # no banner between the lines of JSON
        # Workers tell of themselves in Redis (`backoffice/heartbeat.py`); nobody listens to what Celery's would tell.
        quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO")
        worker = (*celery, "worker", "-P", "threads", *quiet)
        for name, (queues, threads) in WORKERS.items():
            self._add(name, *worker, "-c", str(threads), "-Q", queues, "-n", f"{name.replace('_worker', '')}@%h")
        for old in self.folder.glob("beat-schedule*"):
            old.unlink()  # a killed beat may leave half a file, and nothing in it is worth keeping
        schedule = self.folder / "beat-schedule"
        self._add("beat", *celery, "beat", "--schedule", str(schedule), "--loglevel", "INFO")

    def _add(self, name: str, *arguments: str | Path) -> None:
        # A worker asked to end finishes its tasks first; with the orchestrator gone nobody waits for that.
        death_signal = signal.SIGKILL if name in WORKERS else signal.SIGTERM
        log = self.folder / "logs" / f"{name}.log"
        command = [sys.executable, *arguments]
        self.supervisor.add(name, Program(command, log=log, env=self.env, cwd=ROOT, death_signal=death_signal))

    def _migrate_and_seed(self) -> None:
        """Skip either when the embedded database has already seen exactly these files (and, for the seed, this day)."""
        done = self.folder / "postgres" / "refund_desk.json"  # goes when the data goes
        embedded = "DATABASE_URL" in self.embedded
        before = what_was_done(done) if embedded else {}
        now = {"migrate": fingerprint(ROOT.glob("*/migrations/*.py"))}
        if self.seed:
            sources = [*ROOT.glob("*/management/commands/seed_demo.py"), *ROOT.glob("*/demo*.py")]
            now["seed_demo"] = f"{fingerprint(sources)} {date.today()} {now['migrate']}"
        for command, state in now.items():
            if before.get(command) != state:
                self.manage(command, *(["--no-input"] if command == "migrate" else []))
        if embedded:
            written = done.with_suffix(".new")
            written.write_text(json.dumps({**before, **now}))
            written.replace(done)  # in one step: whoever is killed in the middle leaves the old one

    def _write_environment(self) -> None:
        """Leave the addresses where a second terminal can read them while this runs (see CONTRIBUTING.md)."""
        names = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "SITE_URL")
        file = self.folder / "environment"
        file.touch(mode=0o600)
        file.write_text("".join(f"{name}={self.env[name]}\n" for name in names if self.env.get(name)))


def what_was_done(file: Path) -> dict[str, str]:
    """What the database has seen; nothing where that is not known. Doing it again is harmless."""
    try:
        done: dict[str, str] = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return done


def compile_messages() -> None:
    try:
        compile_stale(ROOT / "locale")
    except BrokenTranslation as error:
        raise StartError(str(error)) from None


def _no_proxy(env: Mapping[str, str]) -> list[str]:
    return [env.get("NO_PROXY", ""), env.get("no_proxy", "")]


def fingerprint(files: Iterable[Path]) -> str:
    """A text that changes when one of the files does."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(str(file.relative_to(ROOT)).encode() + file.read_bytes())
    return digest.hexdigest()[:16]
