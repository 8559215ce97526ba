# SPDX-License-Identifier: Apache-2.0
"""What engines for the tests that are written in Python share."""

import os
import subprocess
import sys


class Workers:
    """The workers of an engine, each in a process of its own, by their names."""

    def __init__(self, *command):
        self.command = command
        self.running = {}

    def work(self, name, *args):
        """Starts a worker and waits until it prints a line."""
        p = subprocess.Popen([*self.command, name, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.running[name] = p
        if not p.stdout.readline():
            raise RuntimeError(f"the worker {name} has ended")

    def kill(self, name):
        p = self.running.pop(name)
        p.kill()
        p.wait()


def serve(engine, workers):
    """Reads commands from standard input, each the name of a method of the engine or of its workers
    and arguments, and answers each with the lines that it prints, and "ok". Kills the workers in the end."""
    try:
        print("ok", flush=True)
        for line in sys.stdin:
            name, *args = line.split()
            try:
                getattr(engine if hasattr(engine, name) else workers, name)(*args)
                print("ok", flush=True)
            except Exception as e:
                print("error", repr(e).replace("\n", " "), flush=True)
    finally:
        for name in list(workers.running):
            workers.kill(name)
        os._exit(0)  # also while threads of the library run
