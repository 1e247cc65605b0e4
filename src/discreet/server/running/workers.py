"""Workers: everything is loaded once, then forked, so that a start and a replacement are quick and memory is shared."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import sys
import threading
import time
from typing import Any

from discreet.errors import DiscreetError, InputError, Refused
from discreet.server.accepting import HELD_CONNECTIONS
from discreet.server.metrics import METERS
from discreet.server.record.store import Store
from discreet.server.settings import Settings

CALM = 15  # seconds that workers have to finish what they are doing
WRONG = 2  # the exit code of a worker that cannot serve what it was given
QUICK = 2.0  # a worker that ends sooner than this after its start is replaced with a pause


def listening(host: str, port: int) -> socket.socket:
    """A socket that all workers accept from."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror}") from None
    listener.listen(2048)
    listener.set_inheritable(True)
    return listener


def preload(settings: Settings, store: Store) -> None:
    """Import, map and compile what every worker needs, and say now what would keep each of them from serving.

    Nothing is left that threads or connections hang on, once the store is closed.
    """
    from discreet.policy import Query, answer
    from discreet.server.attack_standing import attack_standing
    from discreet.server.counting.counting import records_version
    from discreet.server.counting.cube import read_cube
    from discreet.server.editions.served_editions import admit_edition
    from discreet.server.record.server_key import data_mark
    from discreet.server.running import app, hub  # noqa: F401 - imported here so that no worker has to
    from discreet.server.service import check_measures, served_policy

    hub.shown_alike(settings, hub.same_people(settings.cubes))
    sites = [*settings.sites.values()] or [settings]
    files = dict.fromkeys(path for one in sites for path in (one.policy, *one.roles.values()))
    policies = {path: served_policy(path) for path in files}
    for policy in policies.values():
        for mind in filter(None, (policy.openly, policy.unkeyed)):
            sys.stderr.write(f"discreet: warning: {mind}\n")
    for words in dict.fromkeys(words for one in sites for words in attack_standing(one)):
        sys.stderr.write(f"discreet: warning: {words}\n")
    if not settings.folders:
        records_version(settings)  # reads the whole files; workers inherit the hash
    for one in sites if settings.folders else ():
        for folder in one.folders:
            table, version = read_cube(folder)
            for policy in (policies[path] for path in (one.policy, *one.roles.values())):
                policy.check(table.dimensions)
                check_measures(policy, tuple(table._measured))
                if policy.secret is not None:
                    store.agree(data_mark(one.store, version), policy.secret, version)
                for dimension in table.dimensions[:2]:
                    with contextlib.suppress(Refused):  # anything else every question would meet too: say it now
                        answer(table, Query.of(dimension.name), policy).to_csv()
            admit_edition(one, store, policies[one.policy])


def work(settings: Settings, listener: socket.socket, *, alone: bool = False) -> None:
    """Be a worker until told to stop; one that is ``alone`` has no keeper to end with."""
    import uvicorn
    from threadpoolctl import threadpool_limits

    from discreet.server.accepting import EvenServer
    from discreet.server.logs import configure
    from discreet.server.running.app import create_app
    from discreet.server.running.connections import IDLE_SECONDS, bounded_protocol

    configure()
    if not alone:
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    threadpool_limits(1)  # the matrices of one answer are small: threads for them take the other workers' cores
    config = uvicorn.Config(
        create_app(settings), log_config=None, access_log=False, server_header=False, proxy_headers=False,
        timeout_graceful_shutdown=CALM - 5, lifespan="on", ws="none", timeout_keep_alive=IDLE_SECONDS,
        http=bounded_protocol(proxy=settings.proxy),
    )  # fmt: skip
    if alone:
        uvicorn.Server(config).run(sockets=[listener])
    else:
        EvenServer(config, listener).run()


def _end_with(parent: int) -> None:
    """A worker whose parent is gone ends too."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)


def keep(settings: Settings, listener: socket.socket, number: int) -> None:
    """So many workers, or this one process where processes cannot be forked, as on Windows."""
    if hasattr(os, "fork"):
        gc.collect()
        gc.freeze()  # what all workers share is never looked through again, and so stays shared
        Keeper(settings, listener, number).run()
        return
    if number > 1:
        sys.stderr.write("discreet: this system cannot fork, so one process serves\n")
    work(settings, listener, alone=True)


class Keeper:
    """The parent: keeps so many workers alive, and ends them calmly."""

    def __init__(self, settings: Settings, found: socket.socket, number: int) -> None:
        self.settings, self.found, self.number = settings, found, number
        self.alive: dict[int, float] = {}
        self.rows: dict[int, int] = {}  # of the meters, which a worker's successor takes over
        self.stopping = False
        self.first: set[int] = set()  # the workers that were started at the beginning
        self.failed = False

    def run(self) -> None:
        """Until SIGTERM or SIGINT; a worker that ends before is replaced.

        If one of the first finds what it was given wrong, so would those after it.
        """
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, self._stop)
        signal.signal(signal.SIGALRM, self._kill)
        while True:
            while not self.stopping and len(self.alive) < self.number:
                self._start()
            if not self.alive:
                break
            pid, status = os.wait()
            born = self.alive.pop(pid, 0.0)
            HELD_CONNECTIONS.end(self.rows.pop(pid, None))
            if os.waitstatus_to_exitcode(status) == WRONG and pid in self.first and not self.stopping:
                self.failed = True
                self._stop()
            if not self.stopping and time.monotonic() - born < QUICK:
                time.sleep(1)
        if self.failed:
            raise SystemExit(WRONG)

    def _start(self) -> None:
        row = min(set(range(self.number)) - set(self.rows.values()))
        pid = os.fork()
        if pid:
            self.alive[pid], self.rows[pid] = time.monotonic(), row
            if len(self.first) < self.number:
                self.first.add(pid)
            return
        code = 1
        try:
            METERS.begin(row)
            HELD_CONNECTIONS.begin(row)
            for name in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
                signal.signal(name, signal.SIG_DFL)
            work(self.settings, self.found)
            code = 0
        except DiscreetError as error:
            code = WRONG
            sys.stderr.write(f"discreet: {error}\n")
        except Exception as error:  # noqa: BLE001 - its message may hold data
            from discreet.server.logs import error_place

            sys.stderr.write(f"discreet: a worker failed ({type(error).__name__} at {error_place(error)})\n")
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _stop(self, *_: Any) -> None:
        self.stopping = True
        self.found.close()  # from now on a proxy is refused and asks another server
        self._tell(signal.SIGTERM)
        signal.alarm(CALM)

    def _kill(self, *_: Any) -> None:
        self._tell(signal.SIGKILL)

    def _tell(self, what: signal.Signals) -> None:
        for pid in list(self.alive):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, what)
