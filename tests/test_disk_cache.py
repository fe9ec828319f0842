"""Records in the cache folder: found again, never believed when damaged, never an error."""

from pathlib import Path

import pytest

from gpuarray import disk_cache
from gpuarray.config import config


@pytest.fixture
def folder(tmp_path: Path):
    with config.using(cache_dir=str(tmp_path / "deep" / "cache")):
        yield tmp_path / "deep" / "cache"


def test_a_record_is_found_again(folder: Path) -> None:
    assert disk_cache.read("kind", "subject") is None
    disk_cache.write("kind", "subject", {"fact": True})
    assert disk_cache.read("kind", "subject") == {"fact": True}
    assert disk_cache.read("kind", "another subject") is None
    assert disk_cache.read("another kind", "subject") is None
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": 0, "subject": "subject", "values": {}}',
        '{"version": 1, "values": 3}',
        "\x00",
    ],
)
def test_a_damaged_record_is_nothing(folder: Path, damage: str) -> None:
    disk_cache.write("kind", "subject", {"fact": True})
    disk_cache.path_of("kind", "subject").write_text(damage, encoding="utf-8")
    assert disk_cache.read("kind", "subject") is None
    disk_cache.write("kind", "subject", {"fact": False})
    assert disk_cache.read("kind", "subject") == {"fact": False}


def test_undecodable_bytes_are_nothing(folder: Path) -> None:
    disk_cache.write("kind", "subject", {"fact": True})
    disk_cache.path_of("kind", "subject").write_bytes(b"\xff\xfe\x00")
    assert disk_cache.read("kind", "subject") is None


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder", encoding="utf-8")
    with config.using(cache_dir=str(blocked / "cache")):
        disk_cache.write("kind", "subject", {"fact": True})
        assert disk_cache.read("kind", "subject") is None
