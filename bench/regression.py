"""Training of `core.language.ngrams`: logistic regression with a ridge on sparse features, in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.language import ngrams

RIDGE = 0.05
STEPS, RATE = 400, 0.15
LARGEST_BYTE = 127
Vector = NDArray[np.float64]
Truth = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled sentence: the buckets of its features, whether it is wanted, and how much it counts."""

    buckets: Sequence[int]
    label: bool
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows with a value of 1/√n in each of their n features, in coordinates."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    value: Vector
    rows: int

    def times(self, weights: Vector) -> Vector:
        return np.bincount(self.row, self.value * weights[self.column], self.rows).astype(float)

    def transposed_times(self, residuals: Vector) -> Vector:
        return np.bincount(self.column, self.value * residuals[self.row], ngrams.BUCKETS).astype(float)


@dataclass(frozen=True, slots=True)
class Trained:
    weights: Vector
    bias: float

    def logits(self, rows: Sequence[Row]) -> Vector:
        logits: Vector = matrix(rows).times(self.weights) + self.bias
        return logits

    def write(self, file: Path) -> None:
        scale = float(np.abs(self.weights).max()) / LARGEST_BYTE
        file.write_bytes(
            ngrams.HEADER.pack(scale, self.bias) + np.round(self.weights / scale).astype(np.int8).tobytes()
        )


def matrix(rows: Sequence[Row]) -> Matrix:
    lengths = np.array([len(row.buckets) for row in rows])
    column = np.concatenate([np.asarray(row.buckets, dtype=np.int64) for row in rows])
    return Matrix(np.repeat(np.arange(len(rows)), lengths), column, np.repeat(lengths**-0.5, lengths), len(rows))


def trained(rows: Sequence[Row]) -> Trained:
    """Weights and bias of least logistic loss with a ridge, by Adam (Kingma & Ba 2015) on all rows at once."""
    inputs, labels = matrix(rows), np.array([row.label for row in rows], dtype=float)
    counts = np.array([row.weight for row in rows])
    weights = np.zeros(ngrams.BUCKETS + 1)
    mean, spread = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        residuals = counts * (logistic(inputs.times(weights[:-1]) + weights[-1]) - labels)
        slope = np.append(inputs.transposed_times(residuals), residuals.sum())
        slope[:-1] += RIDGE * weights[:-1]
        mean, spread = 0.9 * mean + 0.1 * slope, 0.999 * spread + 0.001 * slope**2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-8)
    return Trained(weights[:-1], float(weights[-1]))


def dense(inputs: Vector, labels: Truth, ridge: float) -> Vector:
    """The same for a few dense features, by Newton's method; the last weight is the bias."""
    inputs = np.column_stack([inputs, np.ones(len(inputs))])
    penalty = np.diag([*[ridge] * (inputs.shape[1] - 1), 0.0])
    weights = np.zeros(inputs.shape[1])
    for _ in range(25):
        guessed = logistic(inputs @ weights)
        slope = inputs.T @ (guessed - labels) + penalty @ weights
        weights -= np.linalg.solve((inputs.T * (guessed * (1 - guessed))) @ inputs + penalty, slope)
    return weights


def logistic(values: Vector) -> Vector:
    likelihoods: Vector = 1 / (1 + np.exp(-np.clip(values, -60, 60)))
    return likelihoods


def area(scores: Vector, labels: Truth) -> float:
    """The area under the ROC curve: how often a row that is wanted ranks above one that is not."""
    ranks = np.argsort(np.argsort(scores)) + 1
    n = int(labels.sum())
    return float((ranks[labels].sum() - n * (n + 1) / 2) / (n * (len(labels) - n)))
