"""Weights of the reader (`core.inference.local_models.reader`): upper layers and heads, trained on labelled messages.

    pip install torch==2.14.1
    DATA=../shared/data
    TALK="$DATA/memorybank_en_dev.json $DATA/memorybank_cn_dev.json $DATA/longmemeval_s_dev.json.gz"
    python -m bench.reader [--left-out cases_x e] [--epochs 3] [--talk $TALK] [--shares asks=0.1 slips=0.1] [--write]
        [--again] [--whole pairs_x pairs_y]
    python -m bench.reader --behind asks ends [--talk $TALK] [--write]

The lower layers are those of the encoder and stay as they are. The upper ones begin as the encoder's and are trained
with all heads together (`bench.reader_data`). Reported for each author who is left out: how many requests to forget
and how many other messages reach some log-odds; how many requests get exactly the statements that they mean; of how
many slips the correction is found with both values; precision and recall of the other heads. `--talk` adds ordinary
talk of files: without it talk unlike that of our own authors is taken for requests. `--again` trains the stored weights
on, at half the rate; `--shares` reads a part of the examples of some tasks, but all of the messages of the files that
`--whole` names. The stored weights come of three epochs of all, and of shorter ones with `--again` each time that
labelled data was added (decisions 0078 and 0096 to 0098). `--behind` fits heads on what the stored layers read, without
PyTorch. `--write` stores the weights as the encoder's are: seven bits and a scale for each output. Needs PyTorch, which
nothing else here does; an epoch of all takes an hour on two cores.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench import arguments, reader_data, regression
from bench.reader_data import Example, Json
from core.forgetting import matching
from core.inference.local_embedder import GRAPHS, local_model_path, read_files
from core.inference.local_models import e5, quantisation, reader
from core.inference.local_models.catalog import MULTILINGUAL
from core.inference.local_models.e5 import Tokens
from core.inference.local_models.reader import HEADS, LOWER, Reader
from core.inference.local_models.unigram import Unigram

TASKS = {
    "asks": ("asks",),
    "meant": ("meant",),
    "slips": ("slips",),
    "changes": ("over", "same", "more"),
    "lists": ("which",),
    "matters": ("matters",),
    "leans": ("leans",),
    "explains": ("explains",),
}
"""The heads that read the texts of each task."""

BEHIND: Mapping[str, Callable[[frozenset[str], Sequence[Path], random.Random], Iterable[Example]]] = {
    "asks": reader_data.asking,
    "ends": reader_data.ending,
}
"""Heads that are fitted behind the others: logistic regressions on what they read, which move no layer.

`asks` moves them, too, but a short training reads a part of its examples, and what a message must not be taken for is
most of what people say.
"""

RIDGES = {"asks": 1.0, "ends": 10.0}

HEAD_NAMES = tuple(head for heads in TASKS.values() for head in heads)
BATCH = 32
LISTS = 8
"""Lists in a batch: each has as many statements."""

BEGINS_AS = {"which": "over"}
"""Heads that begin as another one if nothing is stored of them."""

UPPER_RATE, HEAD_RATE = 6e-5, 1e-3
WARM_UP = 60
STEADY = 0.02
"""Share of the rate at the end of the training."""

POOLED = 512
"""Messages that are read at once for the gate."""

DROPOUT = 0.1
ATTENTION_HEADS = 12
EPSILON = 1e-12
LEASTS = (-1.0, 0.0, 1.0, 2.0, 3.0)


@dataclass(frozen=True, slots=True)
class Row:
    """An example as tokens.

    `labels`: what each head of the task should say, NaN where that is not known. `places`: first and last token of the
    wrong value and of the right one. `spans`: where the statements of a list stand, each of which has a label.
    """

    task: str
    tokens: Sequence[int]
    labels: Sequence[float]
    places: Sequence[int] | None
    spans: Sequence[tuple[int, int]] = ()


class Cutter:
    """Cuts examples into tokens as the reader does."""

    def __init__(self, pieces: e5.Pieces) -> None:
        self._unigram = Unigram(pieces.texts, pieces.scores, pieces.unknown, pieces.normal)
        self._tokens = Tokens(self._unigram, pieces.first, pieces.last)

    def row(self, example: Example) -> Row:
        if example.each:
            joined = reader.join_list(self._tokens, example.texts[0], example.texts[1:])
            return Row(example.task, joined.ids, [*map(float, example.each)], None, joined.spans[1:])
        joined = reader.join(self._tokens, example.texts)
        places = None
        if example.values is not None:
            wrong = joined.tokens_of(0, self._unigram.normalised(example.values[0]))
            right = joined.tokens_of(len(joined.texts) - 1, self._unigram.normalised(example.values[1]))
            places = None if wrong is None or right is None else (*wrong, *right)
        labels = [float(example.labels.get(head, np.nan)) for head in TASKS[example.task]]
        return Row(example.task, joined.ids, labels, places)


def network(folder: Any) -> Any:
    """Return the encoder with trainable upper layers and heads, as a PyTorch module."""
    import torch  # noqa: PLC0415 - no dependency: weights are trained elsewhere than they are used
    from torch.nn import functional  # noqa: PLC0415

    _, cursor = e5._open(folder)  # noqa: SLF001 - weights before they are quantised again
    e5._pieces(cursor)  # noqa: SLF001
    stored = e5._directory(cursor)  # noqa: SLF001
    width = e5.DIMENSION
    words = stored["emb.word"].reshape(-1, width // quantisation.BLOCK, 18)
    positions = stored["emb.pos"].reshape(-1, width) + stored["emb.type"][:width]

    def tensor(values: Any) -> Any:
        return torch.tensor(np.array(values, dtype=np.float32))

    class Layer(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, number: int) -> None:
            super().__init__()
            for name in ("q", "k", "v", "ao", "fi", "fo"):
                bias = stored[f"l{number}.{name}.b"]
                raw = stored[f"l{number}.{name}.w"].reshape(len(bias), -1, 18)
                linear = torch.nn.Linear(raw.shape[1] * quantisation.BLOCK, len(bias))
                linear.weight.data, linear.bias.data = tensor(quantisation.restore_q4(raw)), tensor(bias)
                setattr(self, name, linear)
            for name in ("aln", "oln"):
                norm = torch.nn.LayerNorm(width, eps=EPSILON)
                norm.weight.data = tensor(stored[f"l{number}.{name}.w"])
                norm.bias.data = tensor(stored[f"l{number}.{name}.b"])
                setattr(self, name, norm)
            self.drop = torch.nn.Dropout(DROPOUT)

        def forward(self, states: Any, present: Any) -> Any:
            texts, length, _ = states.shape

            def split(values: Any) -> Any:
                return values.view(texts, length, ATTENTION_HEADS, -1).transpose(1, 2)

            mask = present[:, None, None, :]
            heads = split(self.q(states)), split(self.k(states)), split(self.v(states))
            mixed = functional.scaled_dot_product_attention(*heads, attn_mask=mask)
            states = self.aln(states + self.drop(self.ao(mixed.transpose(1, 2).reshape(texts, length, width))))
            return self.oln(states + self.drop(self.fo(functional.gelu(self.fi(states)))))

    class Network(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            layers = [Layer(number) for number in range(e5.LAYERS)]
            self.lower, self.upper = torch.nn.ModuleList(layers[:LOWER]), torch.nn.ModuleList(layers[LOWER:])
            self.norm = tensor(stored["emb.ln.w"]), tensor(stored["emb.ln.b"])
            self.heads = torch.nn.ModuleDict({name: torch.nn.Linear(2 * width, 1) for name in HEAD_NAMES})
            self.places = torch.nn.Linear(width, 4)
            self.drop = torch.nn.Dropout(DROPOUT)

        def below(self, rows: Sequence[Sequence[int]]) -> tuple[Any, Any]:
            """Return the states under the upper layers, which no training changes, and which tokens are present."""
            longest = max(map(len, rows))
            ids, present = np.ones((len(rows), longest), np.int64), np.zeros((len(rows), longest), bool)
            for at, row in enumerate(rows):
                ids[at, : len(row)], present[at, : len(row)] = row, True
            states = tensor(quantisation.restore_q4(words[ids]) + positions[:longest])
            states = functional.layer_norm(states, (width,), *self.norm, eps=EPSILON)
            mask = torch.tensor(present)
            self.lower.eval()
            with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
                for layer in self.lower:
                    states = layer(states, mask)
            return states.to(torch.bfloat16), mask

        def above(self, states: Any, present: Any) -> Any:
            states = states.float()
            with torch.autocast("cpu", torch.bfloat16):
                for layer in self.upper:
                    states = layer(states, present)
            return states.float()

        def log_odds(self, heads: Sequence[str], states: Any, present: Any) -> Any:
            mean = (states * present[..., None]).sum(1) / present.sum(1, keepdim=True)
            pooled = self.drop(torch.cat([states[:, 0], mean], 1))
            return torch.cat([self.heads[head](pooled) for head in heads], 1)

        def log_odds_of_each(self, head: str, states: Any, spans: Sequence[Sequence[tuple[int, int]]]) -> Any:
            """Return the log-odds of each statement of the lists of a batch, in a row."""
            pooled = [
                torch.cat([states[at, 0], states[at, start:end].mean(0)])
                for at, own in enumerate(spans)
                for start, end in own
            ]
            return self.heads[head](self.drop(torch.stack(pooled)))[:, 0]

    return Network()


class Training:
    """A network, its examples as batches, and the steps of its training."""

    def __init__(self, rows: Sequence[Row], epochs: int, *, again: bool = False) -> None:
        """`again`: begin with the stored weights, at half the rate."""
        import torch  # noqa: PLC0415

        self._torch, self._epochs = torch, epochs
        self.network = network(local_model_path(MULTILINGUAL))
        if again:
            self._restore()
        self._batches = [(batch, *self.network.below([row.tokens for row in batch])) for batch in _batches(rows)]
        upper = {"params": self.network.upper.parameters(), "lr": UPPER_RATE / (2 if again else 1)}
        heads = [*self.network.heads.parameters(), *self.network.places.parameters()]
        self._optimiser = torch.optim.AdamW(
            [upper, {"params": heads, "lr": HEAD_RATE / (2 if again else 1)}], weight_decay=0.01
        )
        steps = epochs * len(self._batches)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(
            self._optimiser, lambda step: min(1, step / WARM_UP) * max(STEADY, 1 - step / steps)
        )

    def run(self) -> Iterator[str]:
        """Train, and yield a line for each epoch."""
        began = time.monotonic()
        for epoch in range(self._epochs):
            random.shuffle(self._batches)
            self.network.train()
            losses: dict[str, list[float]] = {name: [] for name in TASKS}
            for batch, below, present in self._batches:
                losses[batch[0].task].append(self._step(batch, below, present))
            parts = ", ".join(f"{name} {np.mean(values):.3f}" for name, values in losses.items() if values)
            yield f"epoch {epoch + 1}, {time.monotonic() - began:.0f} s: loss {parts}"

    def _step(self, batch: Sequence[Row], below: Any, present: Any) -> float:
        torch = self._torch
        states = self.network.above(below, present)
        if batch[0].spans:
            labels = torch.tensor([label for row in batch for label in row.labels])
            guessed = self.network.log_odds_of_each(*TASKS[batch[0].task], states, [row.spans for row in batch])
        else:
            labels = torch.tensor([row.labels for row in batch])
            guessed = self.network.log_odds(TASKS[batch[0].task], states, present)
        labelled = ~labels.isnan()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(guessed[labelled], labels[labelled])
        placed = [at for at, row in enumerate(batch) if row.places is not None]
        if placed:
            logits = self.network.places(states[placed]).masked_fill(~present[placed][..., None], -1e4)
            targets = torch.tensor([list(batch[at].places or ()) for at in placed])
            loss = loss + torch.nn.functional.cross_entropy(logits, targets)
        self._optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.upper.parameters(), 1.0)
        self._optimiser.step()
        self._schedule.step()
        return float(loss.detach())

    def _restore(self) -> None:
        """Give the network the stored weights."""
        with np.load(reader.WEIGHTS) as stored, self._torch.no_grad():

            def put(parameter: Any, values: Any) -> None:
                parameter.copy_(self._torch.tensor(np.ascontiguousarray(values, dtype=np.float32)))

            for number, layer in enumerate(self.network.upper, LOWER):
                for name, theirs in e5.MATRICES.items():
                    linear = getattr(layer, theirs)
                    put(linear.weight, (stored[f"{number}.{name}.codes"] * stored[f"{number}.{name}.scales"]).T)
                    put(linear.bias, stored[f"{number}.{name}.bias"])
                for name, theirs in e5.NORMS.items():
                    put(getattr(layer, theirs).weight, stored[f"{number}.{name}.weight"])
                    put(getattr(layer, theirs).bias, stored[f"{number}.{name}.bias"])
            for name, head in self.network.heads.items():
                begins = HEADS + (name if HEADS + name in stored else BEGINS_AS.get(name, name))
                if begins not in stored:
                    continue  # A head that is new.
                put(head.weight, stored[begins][None, :-1])
                put(head.bias, stored[begins][-1:])
            put(self.network.places.weight, stored[HEADS + reader.PLACES].T)

    def weights(self) -> dict[str, Any]:
        """Return the weights by their names in the graph, quantised, and the heads."""
        stored: dict[str, Any] = {}
        for number, layer in enumerate(self.network.upper, LOWER):
            for name, theirs in e5.MATRICES.items():
                linear = getattr(layer, theirs)
                codes, scales = quantisation.quantise(linear.weight.detach().numpy())
                stored[f"{number}.{name}.codes"], stored[f"{number}.{name}.scales"] = codes, scales
                stored[f"{number}.{name}.bias"] = linear.bias.detach().numpy()
            for name, theirs in e5.NORMS.items():
                norm = getattr(layer, theirs)
                stored[f"{number}.{name}.weight"] = norm.weight.detach().numpy()
                stored[f"{number}.{name}.bias"] = norm.bias.detach().numpy()
        for name, head in self.network.heads.items():
            stored[HEADS + name] = np.append(head.weight.detach().numpy()[0], head.bias.detach().numpy())
        stored[HEADS + reader.PLACES] = self.network.places.weight.detach().numpy().T
        return stored


def with_heads_behind(
    weights: Mapping[str, Any], heads: Sequence[str], left_out: frozenset[str], talk: Sequence[Path], folder: Path
) -> dict[str, Any]:
    """Return weights with those of the heads that are fitted behind the others."""
    np.savez(folder / "without.npz", **weights)
    trained = Reader(GRAPHS / MULTILINGUAL.graph, read_files(MULTILINGUAL), folder / "without.npz")
    return {**weights, **{HEADS + name: _head_behind(trained, name, left_out, talk) for name in heads}}


def _head_behind(trained: Reader, name: str, left_out: frozenset[str], talk: Sequence[Path]) -> Any:
    examples = list(BEHIND[name](left_out, talk, random.Random(0)))
    pooled = np.concatenate(
        [
            trained.pooled([example.texts for example in examples[at : at + POOLED]])
            for at in range(0, len(examples), POOLED)
        ]
    )
    labels = np.array([example.labels[name] for example in examples])
    return regression.dense(pooled.astype(np.float64), labels, RIDGES[name]).astype(np.float32)


def _batches(rows: Sequence[Row]) -> list[list[Row]]:
    """Return rows of one task and of similar length together."""
    batches = []
    for task in TASKS:
        own = sorted((row for row in rows if row.task == task), key=lambda row: len(row.tokens) // 6)
        size = LISTS if own and own[0].spans else BATCH
        batches += [own[at : at + size] for at in range(0, len(own), size)]
    return batches


def judged(weights: Path, left_out: Sequence[str]) -> Iterator[str]:
    """Yield a line for each author who is left out, judged by the reader as the service runs it."""
    trained = Reader(GRAPHS / MULTILINGUAL.graph, read_files(MULTILINGUAL), weights)
    readings: list[tuple[Callable[[Reader, Sequence[Json]], str], Mapping[str, Sequence[Json]]]] = [
        (_requests, reader_data.authors()),
        (_slips, reader_data.corrections()),
        (_changes, reader_data.cases_in(reader_data.CHANGES)),
        (_matters, reader_data.cases_in(reader_data.MATTERS)),
    ]
    kept_back = [
        case for cases in reader_data.cases_in(reader_data.PAIRS).values() for case in reader_data.kept_back(cases)
    ]
    examples = [example for case in kept_back for example in reader_data.pairs_of(case)]
    yield "pairs kept back: " + "; ".join(_levels(trained, head, examples) for head in TASKS["changes"])
    examples = [example for case in kept_back for example in reader_data.ending_of(case)]
    yield f"messages kept back: {_levels(trained, 'ends', examples)}"
    for author in left_out:
        yield from (
            f"{author}: {describe(trained, by_author[author])}"
            for describe, by_author in readings
            if author in by_author
        )


def _requests(trained: Reader, cases: Sequence[Json]) -> str:
    """Describe how the messages of an author are read: those that ask, and what they mean."""
    log_odds = trained.log_odds("asks", [(case["message"],) for case in cases])
    asks = np.array([case["label"] == "request" for case in cases])
    shares = [f"{(log_odds[asks] >= least).mean():.2f} / {(log_odds[~asks] >= least).mean():.3f}" for least in LEASTS]
    meant = [case for case in cases if case["label"] == "request" and "memories" in case]
    exact = wrong = 0
    for case in meant:
        odds = trained.log_odds("meant", [(case["message"], statement) for statement in case["memories"]])
        chosen, sure = matching.choose(odds)
        answer = set(chosen if sure else ())
        exact += answer == set(case["targets"])
        wrong += bool(answer - set(case["targets"]))
    levels = ", ".join(map(str, LEASTS))
    return (
        f"requests / others from log-odds of {levels}: {', '.join(shares)}; "
        f"of {len(meant)} requests {exact} mean exactly what they should, {wrong} something else as well or instead"
    )


def _slips(trained: Reader, pairs: Sequence[Json]) -> str:
    """Describe how the corrections of an author are read."""
    texts = [(pair["statement"], pair["reply"], pair["correction"]) for pair in pairs]
    certain = trained.log_odds("slips", texts) >= 0
    corrects = np.array([pair["kind"] == "correction" for pair in pairs])
    right = sum(
        pair["statement"].replace(*trained.values(text)[:2], 1) == pair["corrected"]
        for pair, text, is_one, is_certain in zip(pairs, texts, corrects, certain, strict=True)
        if is_one and is_certain
    )
    return (
        f"of {corrects.sum()} corrections {(certain & corrects).sum()} are seen, {right} with both values as written; "
        f"of {(~corrects).sum()} others {(certain & ~corrects).sum()} are taken for one"
    )


def _changes(trained: Reader, cases: Sequence[Json]) -> str:
    """Describe what messages of an author are read to do to earlier statements."""
    examples = list(reader_data.changing(cases))
    return "; ".join(_levels(trained, head, examples) for head in TASKS["changes"])


def _matters(trained: Reader, cases: Sequence[Json]) -> str:
    """Describe which sentences of an author are read to matter."""
    examples = list(reader_data.mattering(cases))
    return "; ".join(_levels(trained, head, examples) for head in TASKS["matters"])


def _levels(trained: Reader, head: str, examples: Sequence[Example]) -> str:
    """Describe precision and recall of a head by log-odds."""
    labelled = [example for example in examples if head in example.labels]
    holds = np.array([example.labels[head] for example in labelled])
    log_odds = trained.log_odds(head, [example.texts for example in labelled])
    cells = []
    for least in LEASTS:
        guessed = log_odds >= least
        cells.append(
            f"{(guessed & holds).sum() / max(1, guessed.sum()):.2f} / {(guessed & holds).sum() / holds.sum():.2f}"
        )
    return f"{head}: precision / recall from log-odds of {', '.join(map(str, LEASTS))}: {', '.join(cells)}"


def fit_behind(heads: Sequence[str], left_out: frozenset[str], talk: Sequence[Path], *, write: bool) -> None:
    """Fit heads on what the stored layers read, and print how far each moves from the stored one."""
    with np.load(reader.WEIGHTS) as stored:
        weights = {name: stored[name] for name in stored.files}
    with tempfile.TemporaryDirectory() as folder:
        fitted = with_heads_behind(weights, heads, left_out, talk, Path(folder))
    for name in heads:
        before = weights.get(HEADS + name, np.zeros_like(fitted[HEADS + name]))
        print(f"{name}: largest change of a weight {np.abs(fitted[HEADS + name] - before).max():.4f}", flush=True)
    if write:
        np.savez(reader.WEIGHTS, **fitted)


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--left-out", nargs="*", default=[])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--talk", nargs="*", type=Path, default=[], help="more files of ordinary talk")
    parser.add_argument("--shares", nargs="*", default=[], help="of which tasks what share is read: asks=0.1 slips=0.1")
    parser.add_argument("--whole", nargs="*", default=[], help="files of which every message is read")
    parser.add_argument("--again", action="store_true", help="begin with the stored weights")
    parser.add_argument("--behind", nargs="*", choices=BEHIND, default=[], help="fit these heads alone")
    parser.add_argument("--write", action="store_true")
    parsed = parser.parse_args()
    if parsed.behind:
        fit_behind(parsed.behind, frozenset(parsed.left_out), parsed.talk, write=parsed.write)
        return
    import torch  # noqa: PLC0415

    torch.manual_seed(0)
    torch.set_num_threads(os.cpu_count() or 1)
    draw = random.Random(0)
    cutter = Cutter(e5.read_pieces(local_model_path(MULTILINGUAL)))
    left_out = frozenset(parsed.left_out)
    examples = reader_data.examples(left_out, parsed.talk, draw)
    shares = {task: float(share) for task, _, share in (each.partition("=") for each in parsed.shares)}
    whole = frozenset(reader_data.messages_of(frozenset(parsed.whole)))
    rows = [
        cutter.row(example)
        for example in examples
        if draw.random() < shares.get(example.task, 1.0) or example.texts[0] in whole
    ]
    random.seed(0)
    random.shuffle(rows)
    counts = ", ".join(f"{sum(row.task == task for row in rows)} {task}" for task in TASKS)
    print(f"{len(rows)} examples: {counts}", flush=True)
    training = Training(rows, parsed.epochs, again=parsed.again)
    for line in training.run():
        print(line, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "reader.npz"
        np.savez(weights, **with_heads_behind(training.weights(), [*BEHIND], left_out, parsed.talk, Path(folder)))
        for line in judged(weights, parsed.left_out):
            print(line, flush=True)
        if parsed.write:
            shutil.copyfile(weights, reader.WEIGHTS)


if __name__ == "__main__":
    main()
