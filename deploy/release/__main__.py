"""The commands of a release: `build`, `verify`, `publish`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from deploy.release import provenance, uploads
from deploy.release.build import build
from deploy.release.failures import ReleaseFailed


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 1: the release is refused or does not verify, with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m deploy.release", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    builder = commands.add_parser("build", help="build, try, describe and sign what a tag or a snapshot holds")
    builder.add_argument("folder", type=Path, help="a folder that does not exist yet")
    builder.add_argument("--key", type=Path, required=True, help="private key that signs, PEM (PKCS #8)")
    builder.add_argument("--snapshot", action="store_true", help="of a commit without a tag; never to be published")
    verifier = commands.add_parser("verify", help="check hashes and signature of a folder")
    verifier.add_argument("folder", type=Path)
    verifier.add_argument("--key", type=Path, required=True, help="public key, PEM")
    publisher = commands.add_parser("publish", help="verify, then upload to the indexes")
    publisher.add_argument("folder", type=Path)
    publisher.add_argument("--key", type=Path, required=True, help="public key, PEM")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.command == "build":
            build(Path.cwd(), chosen.folder, chosen.key, snapshot=chosen.snapshot)
        elif chosen.command == "verify":
            print("\n".join(provenance.verified(chosen.folder, chosen.key)))
        else:
            uploads.publish(chosen.folder, chosen.key)
    except ReleaseFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
