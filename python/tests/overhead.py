"""The time of a sweep on this machine beside that of one process with as many threads.

python -m tests.overhead aqm-congestion --repeat 6000     # twice ten minutes
"""

from __future__ import annotations

import argparse
import filecmp
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jumbolab

#: The share by which a sweep may take longer.
MOST = 0.10

#: What both must leave alike.
FILES = ("plan.toml", "trials.jsonl", "trials.parquet")


def main() -> int:
    """Runs both, prints times, their ratio and the comparison; gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.overhead", description=__doc__)
    parser.add_argument("experiment")
    parser.add_argument("--repeat", type=int, required=True)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--cores", type=int, default=2, help="threads, and workers of the sweep")
    parser.add_argument("--place", help="a folder with room [default: that of temporary files]")
    args = parser.parse_args()
    words = [args.experiment, "--on", "sim", "--repeat", str(args.repeat), "-q"]
    words += [word for one in args.set for word in ("--set", one)]
    place = Path(tempfile.mkdtemp(prefix="overhead-", dir=args.place))
    one, swept = place / "one", place / "swept"
    program = [str(jumbolab.program()), "run", *words, "--threads", str(args.cores)]
    sweep = [sys.executable, "-m", "jumbolab.sweep", *words, "--local", str(args.cores)]
    try:
        alone = _seconds([*program, "-o", str(one)])
        print(f"one process, {args.cores} threads: {alone:.1f} s", flush=True)
        together = _seconds([*sweep, "-o", str(swept)])
        print(f"sweep, --local {args.cores}: {together:.1f} s")
        differing = [
            name for name in FILES if not filecmp.cmp(one / name, swept / name, shallow=False)
        ]
    finally:
        shutil.rmtree(place)
    overhead = together / alone - 1
    print(f"overhead: {100 * overhead:.1f} %, at most {100 * MOST:.0f} %")
    print(f"files that differ: {', '.join(differing) or 'none'} of {', '.join(FILES)}")
    return int(bool(differing) or overhead > MOST)


def _seconds(words: list[str]) -> float:
    begun = time.monotonic()
    # 1: it ran, and results are not sound.
    code = subprocess.run(words, stdout=subprocess.DEVNULL, check=False).returncode
    if code not in (0, 1):
        raise SystemExit(f"{' '.join(words)} ended with {code}")
    return time.monotonic() - begun


if __name__ == "__main__":
    sys.exit(main())
