"""Text that a machine wrote or reads: code, queries, errors and logs outside of fences. Pure."""

from __future__ import annotations

import re

from core.language.lazy_regex import lazy_regex

_STATEMENT = lazy_regex(
    r"^\s*(?:(?:const|let|var)\s+[\w{\[][^=]*=|export (?:default|const|function|class)\b|import [\w{*][^.]*from ['\"]|"
    r"from [\w.]+ import \w|(?:async )?(?:def|function|class) \w+\s*[({:]|(?:public|private|protected|"
    r"static) [\w<>\[\]]+ "
    r"\w+\s*[(=]|#include\s*<|@\w+\(|SELECT\b.+\bFROM\b|INSERT INTO \w|UPDATE \w+ SET\b|DELETE FROM \w|"
    r"(?:CREATE|ALTER|DROP) TABLE\b)|[=(].*;\s*$|^[\s{}()\[\];,]+$|^\s*`[^`]*`\s*$|^\s*\}|\)\s*(?:=>|->)?\s*\{\s*$"
)
_REPORT = lazy_regex(
    r"^\s*(?:Traceback \(most|at \S+ ?\(\S+:\d+|File \"[^\"]+\", line \d+|(?:[A-Za-z_]\w*\.)*[A-Za-z_]*(?:Error|"
    r"Exception)\b: |"
    r"\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL)\b[\]:]? |\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)",
    re.ASCII,
)


def is_machine_text(line: str) -> bool:
    """Return whether a line is code, or what a program reports, rather than somebody's sentence."""
    return bool(_STATEMENT.search(line) or _REPORT.search(line))
