"""``python -m gpuarray coverage``: counts, lists, JSON, and the share of NumPy's functions that the device answers."""

import json

import pytest

import gpuarray
from gpuarray import __main__
from gpuarray.diagnostics import coverage
from gpuarray.functions import registry


def test_at_least_four_fifths_of_the_numeric_functions_run_on_the_device(capsys):
    assert __main__.main(["coverage"]) == 0
    text = capsys.readouterr().out
    share = coverage.numeric_share(registry.current())
    assert share >= coverage.LEAST_SHARE == 80
    assert f"{share:.1f} % of the numeric ones" in text
    assert " histogramdd " in text


def test_json_has_every_function(capsys):
    assert __main__.main(["coverage", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    table = registry.current()
    assert document["functions"].keys() == table.keys()
    assert sum(document["counts"].values()) == len(table)
    assert document["functions"]["sum"] == {"status": "native", "reason": ""}


def test_one_status_is_listed_with_reasons(capsys):
    assert __main__.main(["coverage", "--status", "host"]) == 0
    text = capsys.readouterr().out
    assert registry.LAPACK in text
    assert "native:" not in text
    assert __main__.main(["coverage", "--status", "host", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["functions"].values()
    assert {entry["status"] for entry in result} == {"host"}


def test_too_small_a_share_is_a_failure(monkeypatch, capsys):
    monkeypatch.setattr(coverage, "LEAST_SHARE", 101.0)
    assert __main__.main(["coverage"]) == 1
    assert "must be 101" in capsys.readouterr().err


def test_an_unknown_status_is_an_error_of_usage(capsys):
    with pytest.raises(SystemExit) as exit_:
        __main__.main(["coverage", "--status", "missing"])
    assert exit_.value.code == 2
    assert "invalid choice" in capsys.readouterr().err


def test_names_of_the_namespace_are_there_once():
    names = gpuarray.__all__
    assert len(names) == len(set(names))
    assert all(hasattr(gpuarray, name) for name in names)
