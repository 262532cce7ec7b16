"""The candidates of a search: messages and memories that pass its filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from core.index.bm25 import document_weights, index_terms
from core.index.resident.arrays import Floats, Places
from core.index.resident.snapshot import EMPTY, Snapshot
from core.search import as_of_snapshot, candidates, unindexed
from core.search import filters as search_filters
from core.search.candidates import Candidates
from core.search.filters import FilteredRows
from core.search.opening import OpeningReads, RowsRead
from core.search.question import Question
from core.search.question_analysis import PLAIN, Analysis, analyse
from core.search.stopwatch import Stopwatch
from core.storage.db import Tx


@dataclass(frozen=True, slots=True)
class _FilteredQuestion:
    """Rows of a snapshot that pass the filters, and the analysis of the question."""

    filtered: FilteredRows
    analysis: Analysis


@dataclass(slots=True)
class QuestionFilter:
    """Filters a snapshot while the database validates it, and again if it has changed."""

    question: Question
    vector: Floats | None
    now: datetime
    _last: _FilteredQuestion | None = None

    def over(self, view: Snapshot) -> _FilteredQuestion:
        if self._last is None or self._last.filtered.view is not view:
            filtered = search_filters.filter_rows(view, self.question.filters, self.vector)
            self._last = _FilteredQuestion(filtered, self.analysis_for(view.interners.speakers.numbers))
        return self._last

    def analysis_for(self, speakers: Iterable[str]) -> Analysis:
        """Analyse the question, given the names of speakers."""
        return analyse(self.question.query, self.now, list(speakers))


@dataclass(frozen=True, slots=True)
class Selection:
    """Candidates, their number by type, the snapshot they come from, and the analysis of the question."""

    candidates: Candidates
    considered: Mapping[str, int]
    view: Snapshot
    analysis: Analysis

    def vectors(self, places: Places) -> Floats:
        """Return the vectors of these candidates; zeros where none exists yet."""
        indexes = [self.view.place(key) for key in self.candidates.keys[places]]
        rows = np.zeros((len(indexes), max(self.view.dimension, 1)), dtype=np.float32)
        there = [n for n, index in enumerate(indexes) if index is not None]
        if there:
            rows[there] = self.view.vectors(np.array([indexes[n] for n in there], dtype=np.int64))
        return rows


def select(
    tx: Tx, question: Question, weights: OpeningReads, rows: RowsRead, question_filter: QuestionFilter, took: Stopwatch
) -> Selection:
    """Return the messages and memories that pass the filters, or the best of them, and their number."""
    if not question.filters.include & {"messages", "memories"}:
        return Selection(candidates.of(()), {}, EMPTY, PLAIN)
    view, own = rows.view, weights.own
    worded: Mapping[str, str] = {}
    if question.filters.moment.known_at is not None:
        view, worded = as_of_snapshot.snapshot_at(tx, view, question.filters.moment.known_at, question.parameters)
    thought = question_filter.over(view)
    took.lap("vector")
    lexical = view.lexical(own)
    took.lap("lexical")
    for key, content in worded.items():
        if (index := view.place(key)) is not None:
            lexical[index] = unindexed.lexical(own, document_weights(index_terms(content)))
    passing = thought.filtered.places
    new = [hit for hit in weights.waiting if view.place(hit.key) is None]
    considered = rows.considered
    if considered is None:
        remembered = int(np.count_nonzero(view.fields["memory"][passing]))
        considered = {"memory": remembered, "message": len(passing) - remembered}
    considered = {**considered, "message": considered["message"] + len(new)}
    selected = search_filters.merge_unindexed(search_filters.select(thought.filtered, lexical), new)
    if question.method == "keyword" and question.query.strip():
        selected = selected.with_words()
    return Selection(
        selected, considered, view, question_filter.analysis_for(selected.speakers) if new else thought.analysis
    )
