# SPDX-License-Identifier: Apache-2.0
"""Times contestants in turns, in one process, so that whatever disturbs the machine disturbs all."""

import os
import statistics

from contestants import LONG_CALL

SHORTEST_TURN = 300e-6  # seconds; shorter calls are repeated within a turn
FEWEST_TURNS = 3
FEWEST_SHORT_TURNS = 7
MOST_TURNS = 25


class Threads:
    """Keeps the main thread on the first processor and spreads all others over the rest."""

    def __init__(self):
        self.cpus = sorted(os.sched_getaffinity(0))
        self.known = {os.getpid()}

    def free(self):
        """Lets the main thread move: pools that are created now see all processors."""
        os.sched_setaffinity(0, self.cpus)

    def pin(self):
        os.sched_setaffinity(0, self.cpus[:1])
        others = self.cpus[1:] or self.cpus
        fresh = sorted(set(map(int, os.listdir("/proc/self/task"))) - self.known)
        for i, thread in enumerate(fresh):
            try:
                os.sched_setaffinity(thread, [others[i % len(others)]])
            except ProcessLookupError:  # it has ended since
                continue
            self.known.add(thread)


class Turns:
    """What one contestant needs for a turn, and what its turns have brought."""

    def __init__(self, contestant):
        self.contestant = contestant
        self.seconds = []
        probe = contestant.first
        if probe is not None and probe > LONG_CALL:
            self.seconds.append(probe)  # it counts as a turn
        else:
            contestant.run(1)
            probe = min(contestant.run(1) for _ in range(2))
        self.repeat = max(1, round(SHORTEST_TURN / max(probe, 1e-9)))
        self.warm_up = 0 if probe > LONG_CALL else self.repeat // 4 + 1
        self.cost = probe * (self.repeat + self.warm_up)

    def take(self):
        if self.warm_up:
            self.contestant.run(self.warm_up)
        self.seconds.append(self.contestant.run(self.repeat))


def summary(seconds):
    """Of the turns' times: best, quartiles, how many."""
    ordered = sorted(seconds)
    return {"best": ordered[0], "lower": ordered[len(ordered) // 4],
            "median": statistics.median(ordered), "upper": ordered[-1 - len(ordered) // 4],
            "turns": len(ordered)}


def race(contestants, budget, threads):
    """{name: summary of its seconds per call}. The budget, in seconds, is what each contestant may
    spend; everyone gets a few turns, however slow."""
    field = [Turns(contestant) for contestant in contestants]
    threads.pin()
    for turns in field:
        fewest = FEWEST_TURNS if turns.cost > LONG_CALL else FEWEST_SHORT_TURNS
        turns.wanted = min(max(int(budget / turns.cost), fewest), MOST_TURNS) - len(turns.seconds)
    rounds = max(turns.wanted for turns in field)
    for i in range(rounds):
        first = i % len(field)
        for turns in field[first:] + field[:first]:
            # The turns of the slow are spread evenly over all rounds.
            if (i + 1) * turns.wanted // rounds > i * turns.wanted // rounds:
                turns.take()
    return {turns.contestant.name: summary(turns.seconds) for turns in field}
