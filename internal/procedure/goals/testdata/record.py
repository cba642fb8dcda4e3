#!/usr/bin/env python3
"""Record what the library MLRsearch 1.2.1 asks of simulated devices, and what it concludes.

python3 -m venv /tmp/mlr && /tmp/mlr/bin/pip install MLRsearch==1.2.1
/tmp/mlr/bin/python internal/procedure/goals/testdata/record.py

writes traces/*.json beside this file: for each pair of goals and device the inputs, the trials in their order, and for each
goal the bounds and the conditional throughput. TestTheSameTrialsAsTheLibrary plays them again.
"""

import json
import math
import pathlib
import random

from MLRsearch import AbstractMeasurer, Config, MeasurementResult, MultipleLossRatioSearch, SearchGoal

GOALS = {
    "ndr-pdr": [dict(loss_ratio=0.0), dict(loss_ratio=0.005)],
    "rfc2544": [dict(exceed_ratio=0.0, final_trial_duration=60.0, duration_sum=60.0)],
    "tst009": [dict(final_trial_duration=60.0, duration_sum=120.0, relative_width=0.01)],
    "single": [dict(loss_ratio=0.001, relative_width=0.002, duration_sum=30.0)],
    "three": [
        dict(loss_ratio=0.0, exceed_ratio=0.2, relative_width=0.005),
        dict(loss_ratio=0.001, exceed_ratio=0.5, relative_width=0.01, final_trial_duration=5.0, duration_sum=40.0),
        dict(loss_ratio=0.02, exceed_ratio=0.0, relative_width=0.02, initial_trial_duration=0.5, duration_sum=10.0),
    ],
}


class Device(AbstractMeasurer):
    """A device whose lost frames are a function of load, duration and chance."""

    def __init__(self, lost, overhead, seed):
        self.lost, self.overhead, self.random, self.trials = lost, overhead, random.Random(seed), []

    def measure(self, intended_duration, intended_load):
        sent = int(intended_load * intended_duration)
        lost = min(sent, int(self.lost(intended_load, intended_duration, self.random)))
        result = MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=sent,
            loss_count=lost,
            duration_with_overheads=intended_duration + self.overhead,
        )
        self.trials.append([intended_load, intended_duration, result.duration_with_overheads, result.loss_ratio])
        return result


def limit(capacity, load, duration):
    return max(0.0, load - capacity) * duration


def knee(load, duration, chance, low=5.2e6, high=5.5e6):
    over = load - low
    if over <= 0:
        return 0
    return duration * (over * over / 2 / (high - low) if load < high else load - (low + high) / 2)


def poisson(chance, mean):
    count, time = 0, chance.expovariate(1.0)
    while time < mean:
        count, time = count + 1, time + chance.expovariate(1.0)
    return count


DEVICES = {
    "step": lambda load, duration, chance: limit(5.3e6, load, duration),
    "step-low": lambda load, duration, chance: limit(1.234e5, load, duration),
    "jitter": lambda load, duration, chance: limit(5.3e6 * chance.gauss(1, 0.002), load, duration),
    "wild": lambda load, duration, chance: limit(5.3e6 * chance.gauss(1, 0.05), load, duration),
    "blips": lambda load, duration, chance: limit(5.3e6, load, duration) + 0.002 * load * poisson(chance, duration / 10),
    "knee": knee,
    "lossy": lambda load, duration, chance: 0.03 * load * duration,
    "clean": lambda load, duration, chance: 0,
    "dead": lambda load, duration, chance: load * duration,
    "inverted": lambda load, duration, chance: 0.001 * load * duration if 3e6 < load < 3.2e6 else limit(5.3e6, load, duration),
}


def bound(stat, trials):
    if stat is None:
        return None
    load = float(stat)
    return {"load": load, "trials": [i for i, trial in enumerate(trials) if trial[0] == load]}


def throughput(result):
    """The library refuses a load of zero, which is what comes through where all is lost."""
    try:
        found = result.conditional_throughput
    except RuntimeError:
        return 0.0
    return float(found) if found else 0.0


def record(goals, lost, overhead, seed):
    config = Config()
    config.goals = [SearchGoal(fail_fast=False, **goal) for goal in goals]
    config.min_load, config.max_load, config.warmup_duration, config.search_duration_max = 1e5, 14_880_952.0, 0.0, 1e9
    device = Device(lost, overhead, seed)
    results = MultipleLossRatioSearch(config).search(device, debug=lambda text: None)
    return {
        "minLoad": config.min_load,
        "maxLoad": config.max_load,
        "goals": [
            {
                "lossRatio": goal.loss_ratio,
                "exceedRatio": goal.exceed_ratio,
                "width": goal.relative_width,
                "initialTrial": goal.initial_trial_duration,
                "finalTrial": goal.final_trial_duration,
                "durationSum": goal.duration_sum,
            }
            for goal in config.goals
        ],
        "trials": device.trials,
        "results": [
            {
                "lower": bound(results[goal].relevant_lower_bound, device.trials),
                "upper": bound(results[goal].relevant_upper_bound, device.trials),
                "conditionalThroughput": throughput(results[goal]),
            }
            for goal in config.goals
        ],
    }


def main():
    folder = pathlib.Path(__file__).parent / "traces"
    folder.mkdir(exist_ok=True)
    for goals_name, goals in GOALS.items():
        for device_name, lost in DEVICES.items():
            overhead = 0.0 if device_name in ("step-low", "inverted") else 0.5
            trace = record(goals, lost, overhead, seed=f"{goals_name} {device_name}")
            with open(folder / f"{goals_name}-{device_name}.json", "w", encoding="utf-8") as file:
                file.write(written(trace))
            print(goals_name, device_name, len(trace["trials"]), "trials")


def written(trace):
    """JSON with a line for each goal, trial and result."""
    members = []
    for name, value in trace.items():
        if isinstance(value, list):
            members.append(f' "{name}": [\n  ' + ",\n  ".join(json.dumps(item) for item in value) + "\n ]")
        else:
            members.append(f' "{name}": {json.dumps(value)}')
    return "{\n" + ",\n".join(members) + "\n}\n"


if __name__ == "__main__":
    main()
