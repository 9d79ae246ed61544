"""Workers: a fresh process for every group of jobs, replaced when it crashes or takes too long."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from vigym.benchmarks.rows import Job, Row
from vigym.benchmarks.startup import startup
from vigym.benchmarks.worker import empty_row

# Engines get one thread unless a job says otherwise; libraries below them must not help in secret.
SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Worker:
    """One process; `ask` sends a job and waits for its rows."""

    def __init__(self) -> None:
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed in `stop`)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "vigym.benchmarks.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env={**os.environ, **SINGLE},
        )
        self.answers: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put(None)  # the process has ended

    def ask(self, job: Job) -> list[Row]:
        """Rows of a job; one that says so if the process ends, or takes longer than the job may."""
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps(asdict(job)) + "\n")
            self.process.stdin.flush()
            line = self.answers.get(timeout=job.timeout)
        except queue.Empty:
            return [empty_row(job, status="timeout", note=f"longer than {job.timeout:g} s")]
        except OSError:
            line = None
        if line is None:
            self.process.wait()
            return [empty_row(job, status="crashed", note=f"exit {self.process.returncode}: {self.last_words()}")]
        return [Row(**row) for row in json.loads(line)]

    def last_words(self) -> str:
        """The last line that the process wrote to standard error."""
        self.errors.seek(0)
        lines = [line.strip() for line in self.errors if line.strip()]
        return lines[-1][:200] if lines else ""

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            if stream is not None:
                stream.close()


def run_all(jobs: Iterable[Job]) -> Iterator[tuple[Job, list[Row]]]:
    """Rows of all jobs, one after the other.

    Once a job has run out of time, larger ones of its kind are not tried.
    """
    worker: Worker | None = None
    group: tuple[str, ...] = ()
    given_up: list[Job] = []
    try:
        for job in jobs:
            if any(job.surpasses(other) for other in given_up):
                yield job, [empty_row(job, status="timeout", note="a smaller one took too long")]
                continue
            if job.kind == "startup":
                yield job, startup(job)
                continue
            if worker is not None and (job.group != group or worker.process.poll() is not None):
                worker.stop()
                worker = None
            worker, group = worker or Worker(), job.group
            rows = worker.ask(job)
            if rows[0].status in ("timeout", "crashed"):
                worker.stop()
                worker = None
            if rows[0].status == "timeout":
                given_up.append(job)
            yield job, rows
    finally:
        if worker is not None:
            worker.stop()
