"""`python -m bench.kubernetes [--helm PROGRAM]`: what is generated for Kubernetes.

Writes the settings and secrets in `deploy/helm/imprint/values.schema.json`, and the table of values in
`docs/kubernetes.md`. With a Helm (`make manifests` has one), also the base and the components in `deploy/kustomize`.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic.fields import FieldInfo

from bench import arguments
from core.config import Settings

ROOT: Final = Path(__file__).parents[1]
CHART: Final = ROOT / "deploy/helm/imprint"
SCHEMA: Final = CHART / "values.schema.json"
KUSTOMIZE: Final = ROOT / "deploy/kustomize"
PAGE: Final = ROOT / "docs/kubernetes.md"

DECIDED: Final = frozenset({"home", "http_host", "http_port", "metrics_host", "metrics_port", "url", "api_key"})
"""Settings that the image decides, or that only commands read."""

REQUIRED: Final = (
    *("IMPRINT_DATABASE_URL", "IMPRINT_DATABASE_APP_URL", "IMPRINT_DATABASE_ROUTER_URL"),
    *("IMPRINT_BROKER_URL", "IMPRINT_RECEIPT_KEY", "IMPRINT_SECRETS_KEY"),
)
"""Secrets without which the processes do not start, or cannot do all of their work."""

TRACES: Final = (
    *("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_TIMEOUT"),
    *("OTEL_EXPORTER_OTLP_COMPRESSION", "OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_TRACES_SAMPLER"),
    *("OTEL_TRACES_SAMPLER_ARG", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_SERVICE_NAME"),
    *("OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER"),
)
"""Variables of OpenTelemetry that are handed through."""

TRACE_SECRETS: Final = ("OTEL_EXPORTER_OTLP_HEADERS",)
"""Those that hold credentials."""

KEYWORDS: Final = ("type", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
SCALARS: Final = frozenset({"integer", "number", "boolean", "string"})
WIDTH: Final = 120

COMPONENTS: Final = {
    "horizontalpodautoscaler": "autoscaling",
    "scaledobjects": "autoscaling",
    "servicemonitor": "monitoring",
    "prometheusrule": "monitoring",
}
"""Component of each template that is not in the base."""

HELM_LABELS: Final = re.compile(r"^ +(?:app\.kubernetes\.io/managed-by|helm\.sh/chart): .*\n", re.MULTILINE)


def schema() -> str:
    """Return `values.schema.json` with the settings and secrets of this version."""
    written = json.loads(SCHEMA.read_text(encoding="utf-8"))
    shapes = Settings.model_json_schema()["properties"]
    plain: dict[str, Any] = {name: {"type": "string", "description": "See traces.md."} for name in TRACES}
    secret = {name: {"$ref": "#/definitions/key"} for name in TRACE_SECRETS}
    for name, field in Settings.model_fields.items():
        if name not in DECIDED:
            variable = f"IMPRINT_{name.upper()}"
            if is_secret(field):
                secret[variable] = {"$ref": "#/definitions/key"}
            else:
                plain[variable] = _setting(shapes[name])
    written["properties"]["settings"] = {
        "type": "object",
        "additionalProperties": False,
        "description": "Any [setting](settings.md) that is not secret; objects and lists as JSON.",
        "properties": plain,
    }
    written["properties"]["secrets"] = {
        "type": "object",
        "additionalProperties": False,
        "description": "`name` of a Secret and `key` in it, by setting.",
        "required": list(REQUIRED),
        "properties": secret,
    }
    return _folded(written) + "\n"


def is_secret(field: FieldInfo) -> bool:
    """Return whether a setting is kept secret."""
    return "SecretStr" in str(field.annotation)


def _setting(shape: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a setting's value in a file of values."""
    variants = [variant for variant in shape.get("anyOf", [shape]) if variant.get("type") != "null"]
    kind = variants[0] if variants[0].get("type") in SCALARS else {"type": "string"}
    return {key: kind[key] for key in KEYWORDS if key in kind} | {"description": shape["description"]}


def _folded(value: Any, depth: int = 0) -> str:
    """Return JSON in which a value that fits on a line stands on one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + 2 * depth <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    indent, end = "  " * (depth + 1), "  " * depth
    if isinstance(value, list):
        rows = [_folded(item, depth + 1) for item in value]
        return "[\n" + ",\n".join(indent + row for row in rows) + f"\n{end}]"
    rows = [f"{json.dumps(key)}: {_folded(item, depth + 1)}" for key, item in value.items()]
    return "{\n" + ",\n".join(indent + row for row in rows) + f"\n{end}}}"


def table() -> str:
    """Return the table of values: those with a description in the schema."""
    written = json.loads(SCHEMA.read_text(encoding="utf-8"))
    defaults = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    rows = "".join(
        f"| `{name}` | {_default(defaults, name)} | {meaning} |\n" for name, meaning in _described(written, written, "")
    )
    return f"| value | default | meaning |\n| --- | --- | --- |\n{rows}"


def _described(written: Mapping[str, Any], node: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, child in node.get("properties", {}).items():
        target = written["definitions"][child["$ref"].rsplit("/", 1)[1]] if "$ref" in child else child
        if meaning := child.get("description") or target.get("description"):
            yield prefix + name, meaning
        elif name != "definitions":
            yield from _described(written, target, f"{prefix}{name}.")


def _default(defaults: Any, name: str) -> str:
    value = defaults
    for part in name.split("."):
        value = value.get(part)
    if isinstance(value, dict) and value and not any(item and isinstance(item, dict | list) for item in value.values()):
        return ", ".join(f"`{key}: {json.dumps(item)}`" for key, item in value.items())
    if isinstance(value, dict | list) or value == "":
        return "–" if not value else "see there"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def with_table(page: str) -> str:
    """Return the page with the table of values in its place."""
    return re.sub(r"^\| value \| default \|.*\n(?:\|.*\n)*", lambda _: table(), page, count=1, flags=re.MULTILINE)


def fingerprint() -> str:
    """Return the hash of all that is rendered: templates, values, and the alerts that they include."""
    files = [CHART / "Chart.yaml", CHART / "alerts.yml", *CHART.glob("values*.yaml"), *CHART.rglob("templates/**/*")]
    contents = hashlib.sha256()
    for file in sorted(file for file in files if file.is_file()):
        contents.update(str(file.relative_to(CHART)).encode() + b"\0" + file.read_bytes() + b"\0")
    return contents.hexdigest()


def rendered(helm: str) -> dict[Path, str]:
    """Return the generated files below `deploy/kustomize` with their texts."""
    head = "# Rendered from deploy/helm/imprint by `make manifests`; do not edit.\n"
    files: dict[Path, str] = {}
    for template, text in _templates(helm, "values.yaml").items():
        files[Path("base") / f"{template}.yaml"] = head + text
    names = sorted(path.name for path in files)
    files[Path("base/kustomization.yaml")] = f"{head}# Chart: {fingerprint()}\n" + yaml.safe_dump(
        {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": names}, sort_keys=False
    )
    for template, text in _templates(helm, "values-production.yaml").items():
        if component := COMPONENTS.get(template):
            files[Path("components") / component / f"{template}.yaml"] = head + text
    return files


def _templates(helm: str, values: str) -> dict[str, str]:
    """Return what each template makes of a file of values, without what only Helm needs."""
    options = ["--namespace", "imprint", "--set", "migration.hook=false", "--skip-tests"]
    command = [helm, "template", "imprint", str(CHART), *options, "--values", str(CHART / values)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    texts: dict[str, str] = {}
    for document in re.split(r"^---\n", output, flags=re.MULTILINE):
        if source := re.match(r"# Source: imprint/templates/([\w-]+)\.yaml\n", document):
            text = HELM_LABELS.sub("", document.removeprefix(source[0]))
            texts[source[1]] = texts.get(source[1], "") + "---\n" + text.strip("\n") + "\n"
    return texts


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("--helm", help="program to render the base with; default: it is left as it is")
    options = parser.parse_args()
    SCHEMA.write_text(schema(), encoding="utf-8")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    if options.helm:
        for path, text in rendered(options.helm).items():
            (KUSTOMIZE / path).parent.mkdir(parents=True, exist_ok=True)
            (KUSTOMIZE / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
