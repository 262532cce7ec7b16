"""How far the estimate of tokens lies above what vocabularies count, by kind of text, and how fast it is.

    python -m bench.tokens FOLDER [--strings 300] [--write FILE]

FOLDER holds vocabularies by the names of `core.inference.token_counting.ESTIMATED` (and any other):
`o200k_base.tiktoken` in the format of tiktoken, which must be installed, or `deepseek.json` as `tokenizers` or Mistral
write them. Without them nothing can be compared, and only the speed is shown. Fresh random strings are made to get the
better of the estimate; any text of which it says too little is printed, and the exit status is 1. `--write`: counts for
tests/core/inference/measured_tokens.json.
"""

from __future__ import annotations

import base64
import importlib
import json
import random
import string
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tokenizers import Tokenizer

from bench import arguments
from core.inference.token_counting import ANY, ESTIMATED, Estimate

HERE = Path(__file__).resolve().parent
TEXTS = HERE / "token_texts.json"
WORD = r"[^\r\n\p{L}\p{N}]?"
CASED = (
    WORD
    + r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+{0}|"
    + WORD
    + r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*{0}"
    r"|\p{N}{{1,3}}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
ENDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
PLAIN = ENDS + "|" + WORD + r"\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = CASED.replace("{0}", f"{ENDS}?").replace("{{", "{").replace("}}", "}")
PATTERNS = {
    "o200k_base": O200K,
    "llama4": O200K,
    "cl100k_base": PLAIN,
    "llama3": PLAIN,
    "qwen": PLAIN.replace("{1,3}", ""),
}
Counts = Callable[[str], int]


def vocabularies(folder: Path) -> dict[str, Counts]:
    """Token counters, by the name of each vocabulary in a folder."""
    counts: dict[str, Counts] = {}
    for file in sorted(folder.glob("*.tiktoken")):
        lines = (line.split() for line in file.read_bytes().splitlines() if line)
        counts[file.stem] = _encoding(
            PATTERNS[file.stem], {base64.b64decode(token): int(rank) for token, rank in lines}
        )
    for file in sorted(folder.glob("*.json")):
        document = json.loads(file.read_text("utf-8"))
        if "config" in document:
            size = document["config"]["default_vocab_size"] - document["config"]["default_num_special_tokens"]
            ranks = {base64.b64decode(token["token_bytes"]): token["rank"] for token in document["vocab"][:size]}
            counts[file.stem] = _encoding(document["config"]["pattern"], ranks)
        else:
            counts[file.stem] = _tokenizer(document | {"added_tokens": [], "post_processor": None})
    return counts


def _encoding(pattern: str, ranks: dict[bytes, int]) -> Counts:
    tiktoken = importlib.import_module("tiktoken")
    encoding = tiktoken.Encoding("measured", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda text: len(encoding.encode_ordinary(text))


def _tokenizer(document: dict[str, object]) -> Counts:
    tokenizer = Tokenizer.from_str(json.dumps(document))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def kinds() -> dict[str, str]:
    """Texts by kind: the samples, and this project's own code and documents."""
    root = HERE.parent
    code = "".join(file.read_text("utf-8") for file in sorted((root / "core").glob("*.py")))
    documents = "".join(file.read_text("utf-8") for file in sorted((root / "docs").glob("*.md")))
    samples: dict[str, str] = json.loads(TEXTS.read_text("utf-8"))
    return {**samples, "Python": code[:200_000], "Markdown": documents[:200_000]}


def hard(seed: int, strings: int) -> Iterator[str]:
    """Strings that nobody writes."""
    chance = random.Random(seed)
    words = sorted({word for text in kinds().values() for word in text.split()})
    han = [chr(code) for code in range(0x4E00, 0x9FA6)]
    signs = [chr(code) for code in range(0x1F300, 0x1FAF0)] + ["\u200d", "\ufe0f"]
    alphabets: Sequence[Sequence[str]] = (
        string.printable, string.ascii_lowercase, string.ascii_uppercase, string.ascii_letters + string.digits,
        string.punctuation + " \n\t", " \t\n|a1", "0123456789abcdef",
        han, signs, [*han, *string.printable], words, [" ", *words],
    )  # fmt: skip
    for alphabet in alphabets:
        for _ in range(strings):
            yield "".join(chance.choices(alphabet, k=chance.randint(1, 30)))


def runs(seed: int, strings: int) -> Iterator[list[str]]:
    """Short runs of one kind: where the weights of pairs have the least to spare."""
    chance = random.Random(seed)
    for alphabet in (string.ascii_lowercase, string.ascii_uppercase, string.punctuation):
        yield ["".join(chance.choices(alphabet, k=chance.randint(4, 9))) for _ in range(strings)]


def ratios(counted: Mapping[str, Counts], texts: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """By kind of text, of each vocabulary its own estimate, and of all together `ANY`, each over what is counted."""
    table: dict[str, dict[str, float]] = {}
    for kind, text in texts.items():
        real = {name: count(text) for name, count in counted.items()}
        row = {name: Estimate(name).count(text) / real[name] for name in counted if name in ESTIMATED}
        above = Estimate().count(text)
        table[kind] = row | {"any, least": above / max(real.values()), "any, most": above / min(real.values())}
    return table


def undercounted(counted: Mapping[str, Counts], texts: Sequence[str]) -> Iterator[tuple[str, str, int, int]]:
    """Every text of which an estimate says less than a vocabulary counts: name, text, counted, estimated."""
    for name, count in counted.items():
        for of in {ANY, name if name in ESTIMATED else ANY}:
            estimate = Estimate(of)
            for text in texts:
                real, estimated = count(text), estimate.count(text)
                if estimated < real:
                    yield f"{name} by {of}", text, real, estimated


def tightest(counted: Mapping[str, Counts], texts: Sequence[str]) -> list[str]:
    """The texts of which the estimate says least above what is counted: a lower one would fail on them first."""
    estimate = Estimate()
    over = {text: estimate.count(text) - max(count(text) for count in counted.values()) for text in texts}
    return sorted(texts, key=lambda text: (over[text], -len(text)))[:60]


def speed() -> float:
    """Megabytes of code, documents and talk counted in a second, the first time they are seen."""
    text = "".join(kinds().values())
    estimate, began = Estimate(), time.perf_counter()
    estimate.count(text)
    return len(text.encode()) / 1e6 / (time.perf_counter() - began)


def main() -> int:
    parser = arguments.parser(__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--strings", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    print(f"speed: {speed():.1f} MB/s")
    counted = vocabularies(options.folder) if options.folder else {}
    if not counted:
        print("There is no vocabulary to compare with. Name a folder that holds some.")
        return 0
    table = ratios(counted, kinds())
    names = list(next(iter(table.values())))
    print("| text | " + " | ".join(names) + " |\n|---|" + "--:|" * len(names))
    for kind, row in table.items():
        print(f"| {kind} | " + " | ".join(f"{row[name]:.2f}" for name in names) + " |")
    texts = [*hard(options.seed, options.strings), *(line for text in kinds().values() for line in text.splitlines())]
    wrong = list(undercounted(counted, texts))
    print(f"\n{len(texts)} strings and lines, {len(counted)} vocabularies: {len(wrong)} undercounted")
    for name, text, real, estimated in wrong[:10]:
        print(f"  {name}: {estimated} < {real} {text[:80]!a}")
    if options.write:
        samples = [text for kind, text in kinds().items() if kind not in {"Python", "Markdown"}]
        for strings in (hard(options.seed, options.strings), *runs(options.seed, 4000)):
            samples += tightest(counted, list(dict.fromkeys(strings)))
        rows = [[text, {name: count(text) for name, count in counted.items()}] for text in samples]
        options.write.write_text(json.dumps(rows, ensure_ascii=True, indent=0, separators=(",", ":")) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
