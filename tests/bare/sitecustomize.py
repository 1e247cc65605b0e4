"""Loaded at the start of every Python that has this folder on its path: a POSIX system with what Windows lacks gone.

The standard library's own files for POSIX are loaded first, because on Windows it has others in their place.
"""

import asyncio
import asyncio.unix_events
import multiprocessing.resource_tracker
import os
import shutil
import signal
import socketserver
import ssl  # noqa: F401
import subprocess
import sys
import tempfile  # noqa: F401

KEPT = (asyncio, multiprocessing, shutil, socketserver, subprocess)
GONE = (  # what discreet itself must not call; libraries that found themselves on POSIX keep the rest
    "fork forkpty wait wait3 wait4 pread pwrite fchmod fchown chown setsid killpg sched_getaffinity sched_setaffinity "
    "mkfifo nice getloadavg sendfile posix_spawn"
)
SIGNALS = "SIGALRM SIGKILL SIGHUP SIGUSR1 SIGUSR2 SIGCHLD SIGQUIT SIGPIPE SIGSTOP SIGCONT SIGTSTP alarm setitimer pause"
MODULES = ("fcntl", "resource", "grp", "uvloop", "syslog", "pty")

for name in GONE.split():
    if hasattr(os, name):
        delattr(os, name)
for name in SIGNALS.split():
    if hasattr(signal, name):
        delattr(signal, name)
for name in MODULES:
    sys.modules[name] = None  # type: ignore[assignment] # whoever imports it fails
