from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from core import interpreter

PROGRAM = "import sys, json, core\nprint(json.dumps([__name__, sys.argv, core.__file__]))\n"


def test_a_command_line_is_known_by_its_beginning() -> None:
    assert interpreter.module_words(interpreter.module("workers", "clock")) == ["workers", "clock"]
    assert interpreter.module_words([sys.executable, "-c", "pass"]) is None
    assert interpreter.module_words(interpreter.script("launch.py")) is None


def test_neither_form_looks_into_the_working_folder() -> None:
    assert interpreter.module("workers")[1] == "-P"
    assert interpreter.script("launch.py")[1] == "-I"


def test_a_module_runs_with_the_packages_of_the_one_that_starts_it_and_what_pythonpath_names(
    root: Path, tmp_path: Path
) -> None:
    named, folder = tmp_path / "named", tmp_path / "folder"
    for place, name, text in ((named, "program", PROGRAM), (folder, "json", "1 / 0"), (folder, "core", "1 / 0")):
        place.mkdir(exist_ok=True)
        (place / f"{name}.py").write_text(text)
    command = interpreter.module("program", "one", "two")
    env = {**os.environ, "PYTHONPATH": str(named)}
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)
    told = f'["__main__", ["{named / "program.py"}", "one", "two"], "{root / "core" / "__init__.py"}"]\n'
    assert (done.stdout, done.stderr) == (told, "")
