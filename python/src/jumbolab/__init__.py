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
from ._tools import Mesh, Output, PathReport, Probe, Sent, decode, mesh, probe, send

__version__ = "0.1.0"

__all__ = [
    "Backends",
    "Experiment",
    "Interrupted",
    "JumbolabError",
    "Mesh",
    "Output",
    "PathReport",
    "Plan",
    "Printed",
    "Probe",
    "Results",
    "Sent",
    "Sweep",
    "Value",
    "VersionMismatch",
    "apart",
    "decode",
    "front",
    "list",
    "load",
    "mesh",
    "nearest",
    "plan",
    "predict",
    "probe",
    "program",
    "run",
    "send",
    "sensitivity",
    "sweep",
    "sweep_search",
    "version",
]
