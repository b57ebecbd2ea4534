"""The commands that send packets: on loopback, and in network namespaces of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import jumbolab
from jumbolab import _tools

from .conftest import holds, processes, rejected

SCHEMAS = Path(__file__).parents[2] / "docs" / "reference" / "schema"

#: Starts a program in a network namespace with a loopback of MTU 1500 and a neighbour that
#: never answers.
NAMESPACE = """\
set -e
ip link set lo mtu 1500 up
ip link add near type veth peer name far
ip address add 192.0.2.1/24 dev near
ip link set near up
ip link set far up
exec "$@"
"""

#: An `ssh` all of whose hosts are this one.
SSH = """\
#!/bin/sh
for word; do
    case $word in -G) echo hostname localhost; exit ;; esac
done
exec sh -c "$word"
"""


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program runs in a namespace of its own each time."""
    inside = script(tmp_path / "inside", NAMESPACE)
    words = f"exec unshare --user --map-root-user --net sh '{inside}' '{jumbolab.program()}'"
    path = script(tmp_path / "program", f'#!/bin/sh\n{words} "$@"\n')
    monkeypatch.setenv("JUMBOLAB_BIN", str(path))
    return path


@pytest.fixture
def port() -> Iterator[int]:
    """A receiver on loopback."""
    words = [str(jumbolab.program()), "recv", "--port", "0"]
    receiver = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert receiver.stderr is not None
    try:
        yield int(receiver.stderr.readline().rsplit("port ", 1)[1])
    finally:
        receiver.send_signal(signal.SIGINT)
        receiver.communicate()


def test_a_path_without_a_fault_is_clean() -> None:
    found = jumbolab.probe("127.0.0.1", max_mtu=9000, protocol=["icmp", "udp"])
    assert found.verdict == "clean"
    assert found.summary == [
        "The path to 127.0.0.1 delivers packets of 9000 bytes in both directions."
    ]
    [path] = found.paths
    assert (path.far_end, path.requested_bytes) == ("127.0.0.1", 9000)
    assert (path.forward_mtu, path.reverse_mtu, path.advised_mtu) == (9000, 9000, None)
    assert set(found.table("protocol")["protocol"].to_pylist()) == {"icmp", "udp"}
    assert found.table("finding").num_rows == 0
    assert found.table("path").to_pandas().loc[0, "forward_limit"] == "requested"


def test_a_path_with_a_problem_is_a_result(namespace: Path) -> None:
    found = jumbolab.probe("127.0.0.1", max_mtu=9000)
    assert found.verdict == "problem"
    [finding] = found.table("finding").to_pylist()
    assert (finding["finding"], finding["mtu"]) == ("interface", 1500)
    assert repr(found).startswith("Probe(The path MTU to 127.0.0.1 is 1500 bytes")


def test_an_undecided_path_is_a_result(namespace: Path) -> None:
    found = jumbolab.probe("192.0.2.2", protocol="icmp")
    assert found.verdict == "unclear"
    [finding] = found.table("finding").to_pylist()
    assert finding["finding"] == "no_answer"
    assert {evidence["protocol"] for evidence in finding["evidence"]} == {"icmp"}
    assert {evidence["answered"] for evidence in finding["evidence"]} == {0}


def test_this_host_is_checked_without_a_packet(namespace: Path) -> None:
    found = jumbolab.probe(self_=True)
    assert (found.verdict, found.paths) == ("clean", [])
    interfaces = found.table("local_interface").to_pandas().set_index("interface")
    assert interfaces.loc["near", "peer"] == "far"
    assert interfaces.loc["near", "mtu"] == 1500


def test_a_mesh_has_a_row_for_each_pair(
    namespace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUMBOLAB_SSH", str(script(tmp_path / "ssh", SSH)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    hosts = tmp_path / "hosts"
    hosts.write_text("a ssh=a address=127.0.0.1\nb ssh=b address=127.0.0.2\n")
    clean = jumbolab.mesh(hosts, protocol="icmp")
    assert clean.verdict == "clean"
    assert clean.summary == ["All 2 paths between 2 hosts deliver packets of 1500 bytes."]
    pairs = clean.table("mesh_entry").to_pandas()
    assert list(pairs["from"] + pairs["to"]) == ["ab", "ba"]
    assert list(pairs["passed_bytes"]) == [1500, 1500]
    assert clean.table("mesh_problem").num_rows == 0
    large = jumbolab.mesh(hosts, max_mtu=9000, protocol="icmp")
    assert large.verdict == "problem"
    assert large.table("mesh_problem").num_rows > 0


def test_what_is_sent_arrives_and_its_log_is_decoded(port: int, tmp_path: Path) -> None:
    log = tmp_path / "a.jlog"
    sent = jumbolab.send("127.0.0.1", port=port, packets=50, message=1000, packet_log=log)
    assert sent.errors == {}
    [flow] = sent.table("result").to_pylist()
    assert (flow["sent"], flow["received"], flow["received_bytes"]) == (50, 50, 50_000)
    assert flow["delay_s_count"] == 50
    assert sent.table("interval").num_rows == 0
    [row] = jumbolab.decode(log).to_pylist()
    assert (row["kind"], row["sent"], row["bytes"]) == ("departures", 50, 50_000)


def test_every_packet_of_a_log_is_a_row(port: int, tmp_path: Path) -> None:
    log = tmp_path / "a.jlog"
    jumbolab.send("127.0.0.1", port=port, packets=50, message=1000, packet_log=log)
    packets = jumbolab.decode(log, packets=True)
    assert packets["sequence"].to_pylist() == [*range(50)]
    assert set(packets["size"].to_pylist()) == {1000}
    assert packets["received_ns"].null_count == packets["lost"].null_count == 50
    known = json.loads((SCHEMAS / "decode.schema.json").read_text())["$defs"]
    for column in packets.schema:
        assert type_of(known, known["packet"], column.name) == column.type, column.name
    assert packets.num_columns + 1 == len(known["packet"]["properties"])
    kept = tmp_path / "kept.parquet"
    assert jumbolab.decode(log, packets=True, parquet=kept) == packets
    assert kept.exists()
    error = rejected(lambda: jumbolab.decode(log, packets=True, by_flow=True))
    assert "--by-flow" in str(error)


def test_intervals_are_printed_if_they_are_asked_for(port: int) -> None:
    sent = jumbolab.send("127.0.0.1", port=port, packets=60, gap="5ms", interval="100ms")
    intervals = sent.table("interval").to_pandas()
    assert len(intervals) > 1
    # The last message may leave after the last interval.
    assert 0 < intervals["sent"].sum() <= 60
    assert intervals["from_s"].is_monotonic_increasing


def test_a_damaged_log_is_read_with_a_warning(port: int, tmp_path: Path) -> None:
    log = tmp_path / "a.jlog"
    jumbolab.send("127.0.0.1", port=port, packets=500, gap="0s", packet_log=log)
    content = log.read_bytes()
    (tmp_path / "short.jlog").write_bytes(content[: len(content) - 40])
    with pytest.warns(UserWarning, match=r"short\.jlog") as warned:
        rows = jumbolab.decode(log, tmp_path / "short.jlog").to_pylist()
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert rows[1]["logged"] <= rows[0]["logged"] == 500


def test_what_cannot_be_done_is_one_line(tmp_path: Path) -> None:
    missing = tmp_path / "nosuch"
    for call, said in (
        (lambda: jumbolab.probe("nosuch.invalid"), "nosuch.invalid"),
        (lambda: jumbolab.probe("127.0.0.1", colour="red"), "--colour"),
        (lambda: jumbolab.probe("--help"), "--help"),
        (jumbolab.probe, "HOST"),
        (lambda: jumbolab.mesh(missing), "nosuch"),
        (lambda: jumbolab.send("127.0.0.1", port=1), "127.0.0.1"),
        (lambda: jumbolab.send("127.0.0.1", message="tall:5"), "tall"),
        (lambda: jumbolab.decode(missing), "nosuch"),
        (jumbolab.decode, "LOG"),
    ):
        error = rejected(call)
        assert said in str(error)
        assert error.code == 2


def test_a_wrong_type_is_a_type_error() -> None:
    calls: list[Any] = [jumbolab.probe, jumbolab.mesh, jumbolab.send, jumbolab.decode]
    for wrong in (5, b"127.0.0.1", ["127.0.0.1"]):
        for call in calls:
            with pytest.raises(TypeError):
                call(wrong)


@pytest.mark.parametrize(
    "printed",
    [
        "", "[]", "text", "{}", '{"kind": "path"}', '{"kind": "path", "verdict": "fine"}',
        '{"kind": 5, "verdict": "clean"}', '{"kind": "path", "verdict": ["clean"]}',
    ],
)  # fmt: skip
def test_another_program_than_jumbolab_gives_no_report(
    printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "said").write_text(printed)
    program = script(tmp_path / "program", f"#!/bin/sh\ncat '{tmp_path}/said'\n")
    monkeypatch.setenv("JUMBOLAB_BIN", str(program))
    rejected(lambda: jumbolab.probe("127.0.0.1").verdict)
    rejected(lambda: jumbolab.mesh("hosts").verdict)
    if '"path"' in printed:
        rejected(lambda: jumbolab.probe("127.0.0.1").paths)


def test_ctrl_c_keeps_what_a_watch_has_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = f"JUMBOLAB_TEST={tmp_path}"
    monkeypatch.setenv("JUMBOLAB_TEST", str(tmp_path))

    def has_printed() -> bool:
        printed = [Path(f"/proc/{process}/fd/1") for process in processes(mark)]
        return any('"kind":"not_seen"' in file.read_text() for file in printed)

    def stop() -> None:
        assert holds(has_printed)
        os.kill(os.getpid(), signal.SIGINT)

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(jumbolab.Interrupted) as stopped:
        jumbolab.probe("127.0.0.1", protocol="icmp", max_mtu=1500, watch="1h")
    stopper.join()
    assert stopped.value.results is None
    assert isinstance(stopped.value.output, jumbolab.Probe)
    assert stopped.value.output.verdict == "clean"
    assert not processes(mark)


def test_an_unknown_kind_is_named() -> None:
    found = jumbolab.Probe([])
    assert repr(found) == "Probe()"
    error = rejected(partial(found.table, "metric"))
    assert str(error).startswith("'metric' is no kind of Probe; there are path, hop, ")
    rejected(lambda: found.verdict)


def test_a_table_has_columns_without_rows_and_further_ones_with_them() -> None:
    empty = jumbolab.Probe([]).table("hop")
    assert empty.num_rows == 0
    assert empty.schema.field("round_trip_s").type == pa.float64()
    line: dict[str, Any] = {
        "kind": "hop",
        "far_end": "::1",
        "hop": 1,
        "new": {"a": 1, "b": {"c": 2}},
    }
    rows = jumbolab.Probe([line, {"kind": "path"}]).table("hop").to_pylist()
    assert rows == [
        {
            "far_end": "::1", "hop": 1, "new_a": 1, "new_b_c": 2,
            "address": None, "largest_bytes": None, "round_trip_s": None,
        }
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("probe", {**_tools._PATHS, **_tools._MESH}), ("send-recv", _tools._SENT)],
)
def test_the_columns_are_those_of_the_documented_objects(
    name: str, kinds: dict[str, _tools.Columns]
) -> None:
    known = json.loads((SCHEMAS / f"{name}.schema.json").read_text())["$defs"]
    for kind, columns in kinds.items():
        for type_, names in columns.items():
            for column in names.split():
                assert type_of(known, known[kind], column) == type_, f"{kind}: {column}"


def test_the_columns_of_decode_are_those_of_all_its_rows() -> None:
    known = json.loads((SCHEMAS / "decode.schema.json").read_text())["$defs"]
    for kind in ("arrivals", "departures", "interval", "ditg"):
        for type_, names in _tools._ROW.items():
            for column in names.split():
                assert type_of(known, known[kind], column) == type_, f"{kind}: {column}"


def type_of(known: dict[str, Any], kind: dict[str, Any], column: str) -> pa.DataType:
    """The type that a schema gives a column, which must be there."""
    if column not in kind["required"]:
        outer, _, inner = column.partition("_")
        assert outer in kind["required"], column
        return type_of(known, known[kind["properties"][outer]["$ref"].rsplit("/", 1)[1]], inner)
    described = kind["properties"][column]
    while "$ref" in described or "anyOf" in described:
        described = described["anyOf"][0] if "anyOf" in described else described
        described = known[described["$ref"].rsplit("/", 1)[1]]
    if "const" in described or described.get("enum"):
        return pa.string()
    types = described["type"] if isinstance(described["type"], list) else [described["type"]]
    [type_] = [one for one in types if one != "null"]
    return {
        "string": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "boolean": pa.bool_(),
    }[type_]
