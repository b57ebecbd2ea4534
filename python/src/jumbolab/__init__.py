"""Studies of the maximum transmission unit (MTU): the program jumbolab, from Python.

    import jumbolab

    results = jumbolab.run("mtu-and-queues", on="sim")
    results.trials().to_pandas()
    results.plot()

docs/guides/python.md of the repository describes the package.
"""

from ._backends import Backends, load
from ._commands import (
    Experiment,
    Plan,
    Value,
    list,
    plan,
    predict,
    run,
    sensitivity,
)
from ._errors import Interrupted, JumbolabError, VersionMismatch
from ._program import program, version
from ._rankings import Printed, apart, front, nearest
from ._results import Results
from ._search import sweep_search
from ._sweep import Sweep, sweep

__version__ = "0.1.0"

__all__ = [
    "Backends",
    "Experiment",
    "Interrupted",
    "JumbolabError",
    "Plan",
    "Printed",
    "Results",
    "Sweep",
    "Value",
    "VersionMismatch",
    "apart",
    "front",
    "list",
    "load",
    "nearest",
    "plan",
    "predict",
    "program",
    "run",
    "sensitivity",
    "sweep",
    "sweep_search",
    "version",
]
