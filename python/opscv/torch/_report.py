# SPDX-License-Identifier: Apache-2.0
"""What became of PyTorch's resize calls while the library stood in for its kernels."""
from __future__ import annotations

import collections
import dataclasses
import threading
import time


@dataclasses.dataclass(frozen=True)
class Report:
    """Counts since the first enable() or the last report(reset=True). str() prints it."""
    taken: dict[str, int]  # calls that ran here, by ATen's name
    not_taken: dict[tuple[str, str], int]  # calls left to PyTorch, by name and reason
    seconds: float  # spent in calls that were taken
    seconds_not_taken: float  # and in those left to PyTorch
    enabled_seconds: float  # on the clock, while enabled

    @property
    def share(self) -> float:
        """Part of the time that taken and other resize calls took together, of all time while
        enabled. Calls of several threads at once count each for itself."""
        spent = self.seconds + self.seconds_not_taken
        return spent / self.enabled_seconds if self.enabled_seconds > 0 else 0.0

    def __str__(self) -> str:
        lines = [f"taken: {sum(self.taken.values())} calls, {self.seconds:.3f} s"]
        lines += [f"  {name}: {count}" for name, count in sorted(self.taken.items())]
        lines.append(f"not taken: {sum(self.not_taken.values())} calls, "
                     f"{self.seconds_not_taken:.3f} s")
        lines += [f"  {name}: {count} ({reason})"
                  for (name, reason), count in sorted(self.not_taken.items())]
        lines.append(f"share of time: {100 * self.share:.1f} % of {self.enabled_seconds:.3f} s")
        return "\n".join(lines)


class Counter:
    """Counts calls from any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since: float | None = None
        self._clear()

    def _clear(self) -> None:
        self._taken: collections.Counter[str] = collections.Counter()
        self._not_taken: collections.Counter[tuple[str, str]] = collections.Counter()
        self._seconds = [0.0, 0.0]
        self._enabled = 0.0

    def start(self) -> None:
        with self._lock:
            self._since = time.perf_counter()

    def stop(self) -> None:
        with self._lock:
            if self._since is not None:
                self._enabled += time.perf_counter() - self._since
            self._since = None

    def count_taken(self, name: str, seconds: float) -> None:
        with self._lock:
            self._taken[name] += 1
            self._seconds[0] += seconds

    def count_not_taken(self, name: str, reason: str, seconds: float) -> None:
        with self._lock:
            self._not_taken[name, reason] += 1
            self._seconds[1] += seconds

    def report(self, reset: bool) -> Report:
        with self._lock:
            now = time.perf_counter()
            enabled = self._enabled + (now - self._since if self._since is not None else 0.0)
            result = Report(dict(self._taken), dict(self._not_taken), self._seconds[0],
                            self._seconds[1], enabled)
            if reset:
                self._clear()
                self._since = now if self._since is not None else None
            return result


counter = Counter()


def report(reset: bool = False) -> Report:
    """How many resize calls were taken, how many were not and why, and their share of the time."""
    return counter.report(reset)
