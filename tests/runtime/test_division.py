"""Placement: the division of least time, against all divisions."""

import itertools
import random

import pytest

from gpuarray.runtime.placement.division import DEVICE, HOST, NEVER, Value, divide


def total(steps, values, use, places):
    """Return what a division costs, by the definition."""
    time = sum(pair[place] for pair, place in zip(steps, places, strict=True)) + use * any(places)
    for value in values:
        if value.producer is None:
            there = {place for place in (HOST, DEVICE) if value.places[place]}
        else:
            there = {places[value.producer]}
            time += value.wanted[places[value.producer]]
        needed = {places[consumer] for consumer in value.consumers}
        time += value.upload * (DEVICE in needed and DEVICE not in there)
        time += value.download * (HOST in needed and HOST not in there)
    return time


def plan(seed):
    """Return steps and values of a random plan."""
    pick = random.Random(seed)
    count = pick.randint(1, 7)
    steps = []
    for _ in range(count):
        pair = [pick.randint(0, 100), pick.randint(0, 100)]
        if pick.random() < 0.2:
            pair[pick.randint(0, 1)] = NEVER
        steps.append(tuple(pair))
    values = []
    for _ in range(pick.randint(0, 8)):
        producer = pick.choice([None, *range(count)])
        readers = {n for n in pick.choices(range(count), k=pick.randint(0, 3)) if producer is None or n > producer}
        places = pick.choice([(True, False), (False, True), (True, True)])
        expected = (pick.choice([0, 30]), pick.choice([0, 20]))
        values.append(
            Value(producer, tuple(sorted(readers)), places, expected, pick.randint(0, 60), pick.randint(0, 60))
        )
    return steps, values, pick.randint(0, 50)


@pytest.mark.parametrize("seed", range(100))
def test_no_division_takes_less_time(seed):
    steps, values, use = plan(seed)
    least = min(total(steps, values, use, places) for places in itertools.product((HOST, DEVICE), repeat=len(steps)))
    places, time = divide(steps, values, use)
    assert time == least
    assert total(steps, values, use, places) == least


def test_what_is_faster_alone_stays_where_its_operands_are():
    there = Value(None, (0,), (True, False), (0, 0), 100, 100)
    assert divide([(50, 10)], [there], 0)[0] == [HOST]
    assert divide([(150, 10)], [there], 0)[0] == [DEVICE]


def test_a_chain_pays_its_way_together():
    steps = [(50, 10)] * 4
    values = [Value(None, (0,), (True, False), (0, 0), 100, 100)]
    values += [Value(n, (n + 1,), (False, False), (0, 0), 100, 100) for n in range(3)]
    assert divide(steps, values, 0) == ([DEVICE] * 4, 140)
    assert divide(steps, values, 70)[0] == [HOST] * 4


def test_steps_that_must_be_in_one_place_are():
    together = Value(0, (1,), (False, False), (0, 0), NEVER, NEVER)
    assert divide([(10, 20), (30, 25)], [together], 0) == ([HOST, HOST], 40)


def test_a_long_plan_is_divided():
    steps = [(5, 1)] * 2000
    values = [Value(n, (n + 1,), (False, False), (0, 0), 3, 3) for n in range(1999)]
    assert divide(steps, values, 1000) == ([DEVICE] * 2000, 3000)
