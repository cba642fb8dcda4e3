"""Search with the library MLRsearch for whoever asks on standard input, one JSON document a line.

in   {"minLoad", "maxLoad", "goals": [{"lossRatio", "exceedRatio", "width", "initialTrial", "finalTrial", "durationSum"}]}
out  {"load", "duration"}                  a trial to carry out
in   {"sent", "lost", "took"}              what came of it, in frames and seconds
out  {"results": [{"lower", "upper"}]}     what the search found, null for a bound that there isn't
"""

import json
import sys

from MLRsearch import AbstractMeasurer, Config, MeasurementResult, MultipleLossRatioSearch, SearchGoal


def say(document):
    print(json.dumps(document), flush=True)


class Asking(AbstractMeasurer):
    """Each trial is carried out by the other end."""

    def measure(self, intended_duration, intended_load):
        say({"load": intended_load, "duration": intended_duration})
        answer = json.loads(sys.stdin.readline())
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=answer["sent"],
            loss_count=answer["lost"],
            duration_with_overheads=answer["took"],
        )


def search(asked):
    config = Config()
    config.goals = [
        SearchGoal(
            loss_ratio=goal["lossRatio"],
            exceed_ratio=goal["exceedRatio"],
            relative_width=goal["width"],
            initial_trial_duration=goal["initialTrial"],
            final_trial_duration=goal["finalTrial"],
            duration_sum=goal["durationSum"],
            fail_fast=False,
        )
        for goal in asked["goals"]
    ]
    config.min_load, config.max_load = asked["minLoad"], asked["maxLoad"]
    # The other end warms devices up, for all who search alike, and keeps time.
    config.warmup_duration, config.search_duration_max = 0.0, 1e9
    results = MultipleLossRatioSearch(config).search(Asking(), debug=lambda text: None)
    found = [results[goal] for goal in config.goals]
    return [{"lower": number(r.relevant_lower_bound), "upper": number(r.relevant_upper_bound)} for r in found]


def number(bound):
    return None if bound is None else float(bound)


for line in sys.stdin:
    say({"results": search(json.loads(line))})
