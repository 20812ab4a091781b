"""Folders of the OCI image layout: what is in them, and what becomes of their layers."""

import gzip
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from image_layouts import Entry, blob, layer, layout

from longhaul.errors import LonghaulError
from longhaul.run import images, oci_layouts


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir() or path.is_symlink()}


def unpacked(tmp_path: Path, *layers: Sequence[Entry]) -> Path:
    return oci_layouts.unpacked(
        oci_layouts.read(layout(tmp_path / "image", *layers), None), tmp_path / "cache"
    )


def test_upper_layers_replace_and_remove_files_of_lower_ones(tmp_path: Path) -> None:
    root = unpacked(
        tmp_path,
        [("etc", None), ("etc/a", b"old"), ("etc/b", b"b"), ("opt", None), ("opt/x", b"x"), ("link", "etc")],
        [
            ("etc/.wh.b", b""),
            ("etc/a", b"new"),
            ("opt/y", b"y"),
            ("opt/.wh..wh..opq", b""),
            ("link", b"file"),
        ],
    )
    assert files(root) == {"etc/a", "opt/y", "link"}
    assert (root / "etc/a").read_bytes() == b"new"
    assert (root / "link").read_bytes() == b"file"
    # The second time it is there already.
    assert unpacked(tmp_path / "again", [("a", b"")]).is_dir()


@pytest.mark.parametrize(
    "name", ["../outside", "/../outside", "out/outside", "up/outside", "round/x/outside"]
)
def test_no_entry_of_a_layer_is_written_outside(tmp_path: Path, name: str) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    entries: list[Entry] = [
        ("out", str(outside)),
        ("up", "../../elsewhere"),
        ("round", "up/../out"),
        (name, b"escaped"),
    ]
    root = unpacked(tmp_path, entries)
    assert not any(outside.iterdir())
    assert not (tmp_path / "outside").exists()
    assert not (tmp_path / "cache/outside").exists()
    assert any(path.endswith("outside") for path in files(root))


def test_links_in_a_circle_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match="too many symbolic links"):
        unpacked(tmp_path, [("a", "b"), ("b", "a"), ("a/x", b"")])
    assert not list((tmp_path / "cache").iterdir())


def test_the_configuration_says_what_runs_and_as_whom(tmp_path: Path) -> None:
    config = {
        "Entrypoint": ["/bin/serve"],
        "Cmd": ["--port", "80"],
        "Env": ["A=1", "B=x=y"],
        "WorkingDir": "/srv",
        "User": "web:www",
    }
    passwd = b"root:x:0:0::/:/bin/sh\nweb:x:1000:1000::/:/bin/sh\n"
    layout(tmp_path / "image", [("etc/passwd", b"old")], [("etc/passwd", passwd)], config=config)
    image = images.find("oci:image", tmp_path)
    assert image.configuration == images.Configuration(
        command=("/bin/serve", "--port", "80"),
        entrypoint=("/bin/serve",),
        environment={"A": "1", "B": "x=y"},
        working_directory="/srv",
        user="web",
    )
    assert image.file("etc/passwd") == passwd
    assert image.file("etc/group") is None


def test_a_file_that_an_upper_layer_removes_is_not_there(tmp_path: Path) -> None:
    layout(tmp_path / "image", [("etc/passwd", b"old")], [("etc/.wh.passwd", b"")])
    assert images.find("oci:image", tmp_path).file("etc/passwd") is None


def test_one_of_several_images_is_named_by_its_tag(tmp_path: Path) -> None:
    place = tmp_path / "images"
    layout(place, [("one", b"")], tag="1.0")
    layout(place, [("two", b"")], tag="2.0")
    with pytest.raises(LonghaulError, match=r"it has 2 images.*\n?.*1.0, 2.0"):
        images.find("oci:images", tmp_path)
    with pytest.raises(LonghaulError, match=r'there is no image "3.0"'):
        images.find("oci:images:3.0", tmp_path)
    layers = oci_layouts.read(place, "2.0")
    assert files(oci_layouts.unpacked(layers, tmp_path / "cache")) == {"two"}


def spoil_layer(place: Path) -> None:
    largest = max((place / "blobs/sha256").iterdir(), key=lambda path: path.stat().st_size)
    largest.write_bytes(gzip.compress(layer([("other", b"z" * 5000)])))


def compress_otherwise(place: Path) -> None:
    index = json.loads((place / "index.json").read_text())
    manifest = json.loads((place / "blobs/sha256" / index["manifests"][0]["digest"][7:]).read_text())
    manifest["layers"][0]["mediaType"] = "application/vnd.oci.image.layer.v1.tar+zstd"
    index["manifests"] = [blob(place, json.dumps(manifest).encode())]
    (place / "index.json").write_text(json.dumps(index))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda place: (place / "index.json").unlink(), "index.json: no such file"),
        (lambda place: (place / "index.json").write_text("{"), "index.json is not JSON"),
        (lambda place: (place / "index.json").write_text("[]"), "is not an object"),
        (
            lambda place: (place / "index.json").write_text('{"manifests": [{"digest": "../x"}]}'),
            "not a hash",
        ),
        (lambda place: [each.unlink() for each in (place / "blobs/sha256").iterdir()], "no such file"),
        (spoil_layer, "other contents than its name says"),
        (compress_otherwise, r"another way than gzip \(tar\+zstd\)"),
    ],
)
def test_a_damaged_layout_is_one_error(tmp_path: Path, spoil: Callable[[Path], object], message: str) -> None:
    place = layout(tmp_path / "image", [("file", os.urandom(4000))])
    spoil(place)
    with pytest.raises(LonghaulError, match=message) as caught:
        oci_layouts.unpacked(oci_layouts.read(place, None), tmp_path / "cache")
    assert caught.value.remedy
    assert not (tmp_path / "cache").is_dir() or not list((tmp_path / "cache").iterdir())
