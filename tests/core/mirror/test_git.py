from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from core.mirror import git
from core.mirror.git import GitFailed
from tests.core.mirror.git_objects import everything, run

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")


def log(root: Path) -> list[str]:
    return run(root, "log", "--format=%an: %s").splitlines()


def written(root: Path, user: str, text: str, file: str = "memory.md") -> Path:
    folder = root / "acme" / user
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(text)
    return folder


def test_each_change_is_a_commit_in_a_repository_of_its_own(tmp_path: Path) -> None:
    root = tmp_path / "mirror"
    ada = written(root, "ada", "one\n")
    assert git.commit(root, ada, "first")
    assert not git.commit(root, ada, "nothing new")
    written(root, "ada", "two\n")
    assert git.commit(root, ada, "second")
    assert log(root) == ["Imprint: second", "Imprint: first"]
    assert run(root, "status", "--porcelain") == ""


def test_only_the_files_of_the_user_are_committed(tmp_path: Path) -> None:
    ada = written(tmp_path, "ada", "one\n")
    written(tmp_path, "bob", "two\n")
    (ada / ".memory.md.swp").write_text("swap")
    (tmp_path / "staged").write_text("by someone else")
    git.commit(tmp_path, ada, "ada")
    run(tmp_path, "add", "staged")
    written(tmp_path, "ada", "more\n")
    git.commit(tmp_path, ada, "again")
    assert run(tmp_path, "ls-tree", "-r", "--name-only", "HEAD").split() == ["acme/ada/memory.md"]
    assert "A  staged" in run(tmp_path, "status", "--porcelain")


def test_a_repository_around_the_folder_is_used_and_its_hooks_and_ignores_do_not_count(tmp_path: Path) -> None:
    run(tmp_path, "init", "--quiet")
    (tmp_path / ".gitignore").write_text("*.md\n")
    hook = tmp_path / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    root = tmp_path / "notes"
    assert git.commit(root, written(root, "ada", "one\n"), "first")
    assert run(tmp_path, "ls-tree", "-r", "--name-only", "HEAD").split() == ["notes/acme/ada/memory.md"]
    assert git.purge(root, root / "acme" / "ada") == "kept"


def test_removed_files_are_committed_as_removed(tmp_path: Path) -> None:
    ada = written(tmp_path, "ada", "one\n")
    git.commit(tmp_path, ada, "first")
    shutil.rmtree(ada)
    assert git.commit(tmp_path, ada, "gone")
    assert run(tmp_path, "ls-tree", "-r", "--name-only", "HEAD") == ""
    assert not git.commit(tmp_path, ada, "gone")


def test_nothing_is_committed_in_the_middle_of_a_merge(tmp_path: Path) -> None:
    ada = written(tmp_path, "ada", "one\n")
    git.commit(tmp_path, ada, "first")
    (tmp_path / ".git" / "MERGE_HEAD").write_text(run(tmp_path, "rev-parse", "HEAD"))
    written(tmp_path, "ada", "two\n")
    assert not git.commit(tmp_path, ada, "second")
    (tmp_path / ".git" / "MERGE_HEAD").unlink()
    assert git.commit(tmp_path, ada, "second")


@pytest.mark.parametrize("user", ["ada", "-rf", "a b", ":(top)x", "*", "外"])
def test_strange_names_are_names(tmp_path: Path, user: str) -> None:
    folder = written(tmp_path, user, "secret\n")
    other = written(tmp_path, "other", "kept\n")
    assert git.commit(tmp_path, folder, user)
    assert git.commit(tmp_path, other, "other")
    shutil.rmtree(folder)
    assert git.purge(tmp_path, folder) == "purged"
    assert "secret" not in everything(tmp_path)
    assert "kept" in everything(tmp_path)


def test_a_purged_user_is_in_no_commit_any_more_and_the_others_keep_theirs(tmp_path: Path) -> None:
    for text in ("marker one\n", "marker two\n"):
        git.commit(tmp_path, written(tmp_path, "ada", text), "ada")
        git.commit(tmp_path, written(tmp_path, "bob", text.replace("marker", "bob")), "bob")
    run(tmp_path, "branch", "side")
    written(tmp_path, "bob", "being edited\n")
    shutil.rmtree(tmp_path / "acme" / "ada")
    assert git.purge(tmp_path, tmp_path / "acme" / "ada") == "purged"
    assert "marker" not in everything(tmp_path)
    assert log(tmp_path) == ["Imprint: bob", "Imprint: bob"]
    assert run(tmp_path, "log", "--format=%s", "side").split() == ["bob", "bob"]
    assert (tmp_path / "acme" / "bob" / "memory.md").read_text() == "being edited\n"
    assert run(tmp_path, "status", "--porcelain") == " M acme/bob/memory.md\n"
    assert git.purge(tmp_path, tmp_path / "acme" / "ada") == "none"


def test_a_history_of_nobody_else_vanishes_and_begins_anew(tmp_path: Path) -> None:
    ada = written(tmp_path, "ada", "marker\n")
    git.commit(tmp_path, ada, "first")
    assert git.purge(tmp_path, ada) == "purged"
    assert "marker" not in everything(tmp_path)
    written(tmp_path, "ada", "fresh\n")
    assert git.commit(tmp_path, ada, "anew")
    assert log(tmp_path) == ["Imprint: anew"]


def test_what_others_hold_copies_of_is_not_rewritten(tmp_path: Path) -> None:
    ada = written(tmp_path, "ada", "marker\n")
    git.commit(tmp_path, ada, "first")
    run(tmp_path, "remote", "add", "origin", "https://git.example.com/x")
    assert git.purge(tmp_path, ada) == "kept"
    assert log(tmp_path) == ["Imprint: first"]


def test_no_repository_no_history(tmp_path: Path) -> None:
    assert git.purge(tmp_path, tmp_path / "acme" / "ada") == "none"
    assert git.purge(tmp_path / "missing", tmp_path / "missing" / "acme") == "none"


def test_what_git_refuses_is_said(tmp_path: Path) -> None:
    ada = written(tmp_path, "ada", "one\n")
    git.commit(tmp_path, ada, "first")
    (tmp_path / ".git" / "index.lock").touch()
    written(tmp_path, "ada", "two\n")
    with pytest.raises(GitFailed, match=r"index\.lock"):
        git.commit(tmp_path, ada, "second")
