#!/usr/bin/env bash
# langgraph-checkpoint 4.3.2, InMemoryStore with an index: put(…, index=False) disables indexing for an item. A search
# with a query returns that item all the same, behind the indexed ones and with the score None, for as long as the
# limit leaves room. Who counts on index=False to keep an item out of answers gets it anyway.
# Seen: search("garden") over two items returns both, the unindexed one second and without a score.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "langgraph-checkpoint==4.3.2" "numpy==2.3.4"
"$folder/venv/bin/python" - <<'PY'
from langgraph.store.memory import InMemoryStore


def embed(texts):
    return [[1.0, float("garden" in text)] for text in texts]


store = InMemoryStore(index={"dims": 2, "embed": embed, "fields": ["text"]})
store.put(("notes",), "indexed", {"text": "a garden"})
store.put(("notes",), "unindexed", {"text": "a secret"}, index=False)
found = [(item.key, item.score is None) for item in store.search(("notes",), query="garden")]
print(found)
assert found == [("indexed", False), ("unindexed", True)], "the behaviour has changed"
PY
echo "as described: an item without an index is returned by a search with a query"
