"""Why a release is refused."""


class ReleaseFailed(Exception):
    """The release cannot be built, or is not what its signature says."""
