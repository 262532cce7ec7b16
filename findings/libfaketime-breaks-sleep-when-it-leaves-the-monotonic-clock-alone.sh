#!/usr/bin/env bash
# libfaketime 0.9.10 (package faketime 0.9.10-2.1 of Debian 12) with that system's Python 3.11: under
# FAKETIME_DONT_FAKE_MONOTONIC=1, the setting for programs that measure time, time.sleep raises "Invalid argument".
# Python sleeps until a moment of the monotonic clock; libfaketime subtracts its offset from that moment all the same.
# Seen: "slept" without the setting, OSError 22 (EINVAL) with it; time.monotonic itself is left alone, as it should be.
# Expected: a sleep of a tenth of a second. Known to its authors as issue 426 of wolfcw/libfaketime, but what Debian 12
# ships has it. It matters to tests that set the clock of workers forward: each time.sleep in them fails at once.
# Needs root, apt and Debian 12; installs the package where it is missing.
set -euo pipefail
dpkg -s faketime >/dev/null 2>&1 || apt-get install -qq -y --no-install-recommends faketime >/dev/null
version=$(dpkg-query -W -f '${Version}' faketime)
[[ $version == 0.9.10-2.1 ]] || { echo "this is about faketime 0.9.10-2.1, not $version"; exit 1; }

sleeps() { # sleeps [SETTING]: what a short sleep does an hour ahead
    env "$@" faketime -f +1h /usr/bin/python3.11 -c '
import time
try:
    time.sleep(0.1)
    print("slept")
except OSError as error:
    print(type(error).__name__, error.errno)
'
}

default=$(sleeps)
spared=$(sleeps FAKETIME_DONT_FAKE_MONOTONIC=1)
echo "by default: $default; with FAKETIME_DONT_FAKE_MONOTONIC=1: $spared"
[[ $default == slept && $spared == "OSError 22" ]] || { echo "the behaviour has changed"; exit 1; }
echo "as described: time.sleep fails where the monotonic clock is left alone"
