"""``python -m gpuarray``: commands, programs under the tools, exit statuses, messages."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuarray import __main__ as commands

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys
import numpy as np
import gpuarray as xp

if __name__ == "__main__":
    print("arguments", sys.argv[1:])
    x = xp.asarray(np.ones((50, 60), np.float32), device="cpu")
    for _ in range(3):
        y = np.asarray(xp.sum(xp.exp(x) + 1, axis=0))
    import helper
    raise SystemExit(helper.STATUS)
"""


@pytest.fixture
def script(tmp_path):
    (tmp_path / "helper.py").write_text("STATUS = 7\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    sys.modules.pop("helper", None)
    yield tmp_path / "program.py"
    sys.modules.pop("helper", None)


def test_explain_shows_the_plans_after_the_programs_output(script, capsys):
    before = sys.argv[:], sys.path[:]
    assert commands.main(["explain", str(script), "--flag", "value"]) == 7
    out = capsys.readouterr().out
    assert (sys.argv, sys.path) == before
    assert out.startswith("arguments ['--flag', 'value']\n")
    assert "== plan 1 of 1, evaluated 3 times" in out
    assert "program.py:10" in out
    assert "exp" in out


def test_explain_shows_one_stage(script, capsys):
    commands.main(["explain", "--stage", "placement", str(script)])
    out = capsys.readouterr().out
    assert "on the device, because" in out
    assert "fold sum" not in out


def test_profile_writes_files(script, tmp_path, capsys):
    page, trace = tmp_path / "p.html", tmp_path / "t.json"
    assert commands.main(["profile", "--html", str(page), "--trace", str(trace), str(script)]) == 7
    output = capsys.readouterr()
    assert "wall time" in output.out
    assert "program.py:10" in output.out
    assert f"wrote {page}" in output.err
    assert "<canvas" in page.read_text()
    assert json.loads(trace.read_text())["traceEvents"]


def test_a_file_that_cannot_be_written(script, tmp_path, capsys):
    (tmp_path / "helper.py").write_text("STATUS = 0\n")
    assert commands.main(["profile", "--html", str(tmp_path / "no" / "p.html"), str(script)]) == 1
    assert "profile: " in capsys.readouterr().err


@pytest.mark.parametrize("command", ["explain", "profile"])
class TestStatuses:
    @pytest.mark.parametrize(
        ("code", "status"), [("", 0), ("raise SystemExit", 0), ("raise SystemExit(3)", 3), ("exit('words')", 1)]
    )
    def test_of_the_program(self, command, code, status, tmp_path, capsys):
        (tmp_path / "p.py").write_text(f"import gpuarray\n{code}\n")
        assert commands.main([command, str(tmp_path / "p.py")]) == status
        assert ("words" in capsys.readouterr().err) == (code == "exit('words')")

    def test_of_a_program_that_fails(self, command, tmp_path, capsys):
        (tmp_path / "p.py").write_text("def f():\n    return 1 / 0\n\nf()\n")
        assert commands.main([command, str(tmp_path / "p.py")]) == 1
        trace = capsys.readouterr().err
        assert "ZeroDivisionError" in trace
        assert 'p.py", line 2, in f' in trace
        assert "runpy" not in trace

    def test_of_one_that_does_not_compile(self, command, tmp_path, capsys):
        (tmp_path / "p.py").write_text("x = = 1\n")
        assert commands.main([command, str(tmp_path / "p.py")]) == 1
        assert "SyntaxError" in capsys.readouterr().err

    def test_of_one_that_is_interrupted(self, command, tmp_path):
        (tmp_path / "p.py").write_text("raise KeyboardInterrupt\n")
        assert commands.main([command, str(tmp_path / "p.py")]) == 130

    def test_of_one_that_does_not_exist(self, command, tmp_path, capsys):
        assert commands.main([command, str(tmp_path / "none.py")]) == 2
        assert "there is no file" in capsys.readouterr().err

    def test_without_a_program(self, command, capsys):
        with pytest.raises(SystemExit) as caught:
            commands.main([command])
        assert caught.value.code == 2
        assert "SCRIPT" in capsys.readouterr().err


def test_a_program_that_evaluates_nothing_is_told_so(tmp_path, capsys):
    (tmp_path / "p.py").write_text("x = 1\n")
    assert commands.main(["explain", str(tmp_path / "p.py")]) == 0
    assert "evaluated no array" in capsys.readouterr().err


def test_info_and_report(capsys):
    assert commands.main([]) == 0
    output = capsys.readouterr().out
    assert commands.main(["info"]) == 0
    assert capsys.readouterr().out == output
    assert "Versions\n" in output
    assert commands.main(["report", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {"versions", "settings", "events", "memory"} <= set(result)


def test_bench_is_the_repositorys(monkeypatch, capsys, tmp_path):
    command = [sys.executable, "-m", "gpuarray", "bench", "--help"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert result.returncode == 0
    assert "--workloads" in result.stdout
    (tmp_path / "bench.py").write_text("raise SystemExit(0)")  # a program of the user, which is not run
    result = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    monkeypatch.setitem(sys.modules, "bench", None)  # as where the package alone is installed
    assert commands.main(["bench"]) == 2
    assert "in a checkout of the repository" in capsys.readouterr().err
