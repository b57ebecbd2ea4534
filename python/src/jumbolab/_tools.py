"""The commands that send packets or read logs of them: probe, mesh, send and decode."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pyarrow as pa

from ._commands import options_of, path_of
from ._errors import Interrupted, JumbolabError, one_line
from ._program import PRINTED, Outcome, failure, finish, program, start
from ._results import _table, read_table
from ._shapes import Object, fitting, record

_TEXT, _COUNT, _NUMBER, _TRUTH = pa.string(), pa.int64(), pa.float64(), pa.bool_()

Columns = dict[pa.DataType, str]

#: Columns that a table of a kind always has, without rows too. Other keys of the objects
#: become further columns. A test compares them with docs/reference/schema.
_PATHS: dict[str, Columns] = {
    "path": {
        _TEXT: "host far_end interface verdict summary forward_limit reverse_limit",
        _COUNT: "interface_mtu requested_bytes advised_mtu forward_mtu reverse_mtu probes "
        "sent_bytes",
        _NUMBER: "round_trip_s duration_s",
    },
    "hop": {
        _TEXT: "far_end address",
        _COUNT: "hop largest_bytes",
        _NUMBER: "round_trip_s",
    },
    "protocol": {
        _TEXT: "far_end protocol",
        _TRUTH: "answers",
        _COUNT: "largest_bytes fails_from_bytes mss",
    },
    "finding": {_TEXT: "far_end finding text"},
    "advice": {_TEXT: "far_end text"},
    "not_seen": {_TEXT: "far_end text"},
    "change": {
        _TEXT: "time host far_end verdict summary",
        _COUNT: "forward_mtu_before reverse_mtu_before forward_mtu reverse_mtu",
    },
    "local_host": {
        _TEXT: "verdict summary",
        _COUNT: "interfaces routes cached_path_mtus tcp_mtu_probing tcp_base_mss ip_no_pmtu_disc",
    },
    "local_interface": {
        _TEXT: "interface type below controller peer",
        _TRUTH: "up",
        _COUNT: "mtu ipv6_mtu below_mtu fits_bytes",
    },
    "local_route": {
        _TEXT: "route network router",
        _TRUTH: "locked advertised",
        _COUNT: "prefix_length mtu",
        _NUMBER: "expires_s",
    },
    "local_finding": {_TRUTH: "problem", _TEXT: "finding text command"},
}
_MESH: dict[str, Columns] = {
    "mesh": {_TEXT: "verdict", _TRUTH: "stopped", _COUNT: "requested_bytes hosts"},
    "mesh_host": {
        _TEXT: "host address interface error",
        _TRUTH: "probes",
        _COUNT: "interface_mtu",
    },
    "mesh_entry": {_TEXT: "from to limit", _COUNT: "passed_bytes"},
    "mesh_problem": {_TEXT: "place direction text", _COUNT: "passes_bytes"},
    "mesh_path": {_TEXT: "from to verdict summary", _COUNT: "probes", _NUMBER: "round_trip_s"},
}
_SENT: dict[str, Columns] = {
    "result": {_TEXT: "flow protocol meter error"},
    "interval": {_TEXT: "flow", _NUMBER: "from_s to_s"},
    "jumbograms": {_TEXT: "over", _COUNT: "size_bytes packet_bytes sent received whole packets"},
    "jumbograms_measured": {
        _TEXT: "over by",
        _COUNT: "size_bytes packet_bytes messages bytes",
        _NUMBER: "delay_mean_s throughput_bps duration_s",
    },
    "jumbograms_sent": {_TEXT: "to", _COUNT: "size_bytes packet_bytes sent"},
}
_ROW: Columns = {
    _TEXT: "kind log name source destination",
    _COUNT: "flow protocol dscp bytes",
    _NUMBER: "start_s duration_s",
}

#: Verdicts, the best first.
_VERDICTS = ("clean", "unclear", "problem")

Of = TypeVar("Of", bound="Output")


@dataclass(frozen=True)
class PathReport:
    """A path to a far end: docs/reference/json.md, kind ``path`` of "probe --json"."""

    host: str
    far_end: str
    verdict: str
    summary: str
    interface: str
    interface_mtu: int
    requested_bytes: int
    advised_mtu: int | None
    forward_mtu: int | None
    forward_limit: str
    reverse_mtu: int | None
    reverse_limit: str
    round_trip_s: float | None
    probes: int
    sent_bytes: int
    duration_s: float


class Output:
    """The objects that a command printed, by kind.

    Attributes:
        lines: All of them: docs/reference/json.md.
    """

    _columns: ClassVar[dict[str, Columns]] = {}

    def __init__(self, lines: list[Object]) -> None:
        self.lines = lines

    def table(self, kind: str) -> pa.Table:
        """The objects of a kind, one a row.

        The keys of an object within another one follow its name: ``forward_mtu``.
        """
        if kind not in self._columns:
            known = ", ".join(self._columns)
            raise JumbolabError(f"{kind!r} is no kind of {type(self).__name__}; there are {known}")
        rows = [_flat(line) for line in self.lines if line.get("kind") == kind]
        for row in rows:
            del row["kind"]
        return _tabled(rows, self._columns[kind])

    def _of(self, kind: str) -> list[Object]:
        return [line for line in self.lines if line.get("kind") == kind]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.lines)} objects)"


class Probe(Output):
    """The result of `probe`.

    Its kinds are ``path``, ``hop``, ``protocol``, ``finding``, ``advice``, ``not_seen`` and
    ``change``; with ``self_=True`` those that begin with ``local_``.
    """

    _columns = _PATHS

    @cached_property
    def paths(self) -> list[PathReport]:
        """A report for each version of IP; none with ``self_=True``."""
        shape = record(PathReport, further=True)
        return [fitting(_flat(line), PRINTED, shape) for line in self._of("path")]

    @property
    def verdict(self) -> str:
        """``clean``, ``problem`` or ``unclear``: the worst of all paths, or that of the host."""
        return _worst([*self._of("path"), *self._of("local_host")])

    @property
    def summary(self) -> list[str]:
        """The answer, a sentence for each path or for the host."""
        return _sentences([*self._of("path"), *self._of("local_host")])

    def __repr__(self) -> str:
        return f"Probe({' '.join(self.summary)})"


class Mesh(Output):
    """The result of `mesh`.

    Its kinds are ``mesh``, ``mesh_host``, ``mesh_entry`` (the pairs), ``mesh_problem`` and
    ``mesh_path``.
    """

    _columns = _MESH

    @property
    def verdict(self) -> str:
        """``clean``, ``problem`` or ``unclear``."""
        return _worst(self._of("mesh"))

    @property
    def summary(self) -> list[str]:
        """The answer, in sentences."""
        return _sentences(self._of("mesh"))

    def __repr__(self) -> str:
        return f"Mesh({' '.join(self.summary)})"


class Sent(Output):
    """The result of `send`.

    Its kinds are ``result`` (the flows), ``interval``, ``jumbograms``, ``jumbograms_measured``
    and ``jumbograms_sent``.
    """

    _columns = _SENT

    @property
    def errors(self) -> dict[str, str]:
        """What went wrong, by the name of the flow."""
        errors = ((line.get("flow"), line.get("error")) for line in self._of("result"))
        return {str(flow): one_line(str(error)) for flow, error in errors if error is not None}


def probe(host: str | None = None, **options: Any) -> Probe:
    """Finds the MTU of a path, and where larger packets are dropped: ``jumbolab probe``.

    Args:
        host: Name or address of the far end; a URL or ``HOST:PORT`` tests a server by TCP.
        options: Those of the command line, as of `predict`: ``max_mtu=9000``,
            ``protocol=["icmp", "udp"]``, ``self_=True`` without a host.

    Raises:
        JumbolabError: The program could not do it. A path with a problem is a result.
        Interrupted: The user stopped it, as ends ``watch``; it has what was found.
    """
    return _told(Probe, ["probe", *options_of(**options), "--json", *_last(host)])


def mesh(hosts: str | PathLike[str], **options: Any) -> Mesh:
    """Probes the paths between all hosts of a file: ``jumbolab probe --mesh``.

    Args:
        hosts: The file: docs/reference/formats.md, "The hosts of `probe --mesh`".
        options: Those of the command line: ``max_mtu=9000``, ``page="mesh.html"``.

    Raises:
        JumbolabError: The program could not do it.
        Interrupted: The user stopped it; it has the paths that were probed.
    """
    return _told(Mesh, ["probe", f"--mesh={path_of(hosts)}", *options_of(**options), "--json"])


def send(host: str | None = None, **options: Any) -> Sent:
    """Sends traffic to ``jumbolab recv``, or echo requests to any host: ``jumbolab send``.

    Args:
        host: Name or address of the receiver; None: with ``jumbogram=True``, this machine.
        options: Those of the command line: ``protocol="tcp"``, ``duration="5s"``,
            ``packet_log="a.jlog"``; with ``interval="1s"`` also results of intervals.

    Raises:
        JumbolabError: The program could not do it. A flow that failed is in `Sent.errors`.
        Interrupted: The user stopped it; it has what was measured.
    """
    printed = "--json-stream" if options.get("interval") else "--json"
    return _told(Sent, ["send", *options_of(**options), printed, *_last(host)])


def decode(*logs: str | PathLike[str], **options: Any) -> pa.Table:
    """Delay, jitter, loss and reordering from packet logs: ``jumbolab decode``.

    A log that is damaged or not complete is read up to its damage, with a warning.

    Args:
        logs: Packet logs of `send` and of ``jumbolab recv``.
        options: Those of the command line: ``by_flow=True``, ``interval="1s"``; with
            ``packets=True`` a row is a packet.

    Returns:
        A row for each line of ``decode --json``.
    """
    if options.get("packets"):
        return _packets(logs, options)
    words = ["decode", *options_of(**options), "--json", "--", *map(path_of, logs)]
    outcome = finish(start(words))
    _warn(outcome, 3)
    return _tabled(outcome.objects(), _ROW)


def _packets(logs: Iterable[str | PathLike[str]], options: Mapping[str, Any]) -> pa.Table:
    """Every packet, by way of a Parquet file: there may be millions."""
    with tempfile.TemporaryDirectory() as folder:
        file = options.get("parquet") or Path(folder) / "packets.parquet"
        words = options_of(**{**options, "parquet": file})
        outcome = finish(start(["decode", *words, "--", *map(path_of, logs)]))
        _warn(outcome, 4)
        return read_table(file, str(file))


def _last(host: str | None) -> list[str]:
    return [] if host is None else ["--", path_of(host)]


def _told(kind: type[Of], words: list[str]) -> Of:
    """What a command printed.

    Raises:
        JumbolabError: It could not do its work.
        Interrupted: The user stopped it.
    """
    outcome = start(words)
    if outcome.was_interrupted:
        output = kind(outcome.objects()) if outcome.stdout else None
        raise Interrupted("stopped" if output else "stopped; nothing was measured", None, output)
    found = kind(finish(outcome).objects())
    if not found.lines:
        raise failure(outcome)
    _warn(outcome, 4)
    return found


def _warn(outcome: Outcome, above: int) -> None:
    """Passes warnings of the program on, as of the code so many calls above."""
    for message in outcome.messages:
        warnings.warn(one_line(message), stacklevel=above)


def _worst(lines: list[Object]) -> str:
    verdicts = [line.get("verdict") for line in lines]
    for verdict in verdicts:
        if verdict not in _VERDICTS:
            raise JumbolabError(f"{PRINTED}: {verdict!r} is no verdict")
    if not verdicts:
        raise JumbolabError(f"{PRINTED}: there is no verdict; is {program()} jumbolab?")
    return max(map(str, verdicts), key=_VERDICTS.index)


def _sentences(lines: list[Object]) -> list[str]:
    """The summaries of objects, which have one sentence or several."""
    summaries = [line.get("summary") for line in lines]
    several = [one if isinstance(one, list) else [one] for one in summaries]
    return [one_line(str(sentence)) for sentences in several for sentence in sentences]


def _flat(line: Object, before: str = "") -> Object:
    """An object without objects within it."""
    row: Object = {}
    for key, value in line.items():
        if isinstance(value, dict):
            row |= _flat(value, f"{before}{key}_")
        else:
            row[before + key] = value
    return row


def _tabled(rows: Iterable[Object], columns: Columns) -> pa.Table:
    """A table of rows that has these columns, too."""
    rows = list(rows)
    table = _table(rows)
    for type_, names in columns.items():
        for name in names.split():
            if name not in table.column_names:
                table = table.append_column(name, pa.nulls(len(rows), type_))
                continue
            column = table.column(name)
            if pa.types.is_null(column.type) or (type_ == _NUMBER and column.type == _COUNT):
                at = table.column_names.index(name)
                table = table.set_column(at, name, column.cast(type_))
    return table
