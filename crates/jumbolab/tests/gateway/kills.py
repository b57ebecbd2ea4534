"""Sends through two gateways, a receiver and runs, of which some are killed at random.

    kills.py SECONDS SEED

Runs inside the test network of bed.sh, whose namespaces are `a`, `ga`, `c`, `gb` and `b`. Prints one
JSON object: what became of each command, by name and exit code, and what was found wrong.
"""

import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

PROGRAM = os.environ["JUMBOLAB"]
NODES = ["a", "ga", "c", "gb", "b"]
GATEWAYS = {
    "ga": ("192.0.2.1", "198.51.100.1", "10.2.0.0/24"),
    "gb": ("198.51.100.1", "192.0.2.1", "10.1.0.0/24"),
}
# The public key of the peer of each.
PUBLIC = {"ga": pathlib.Path("gb.pub"), "gb": pathlib.Path("ga.pub")}
# Seconds after which a command that should have ended counts as hanging.
TIMEOUT = 120
RUN = """
format = 1
name = "killed"
[aliases]
mtu = "network.mtu"
[network]
shape = "pair"
rate = "200mbit"
[traffic]
protocol = "tcp"
size = "200kB"
[sweep]
mtu = [1500, 9000]
[compare]
factor = "mtu"
baseline = 1500
"""
TRIALS = 40

SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]


class Command:
    """A command in a namespace, and what was done to it."""

    def __init__(self, node, *arguments):
        self.begun = time.monotonic()
        self.arguments = arguments
        self.disturbed = None
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", node, PROGRAM, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def kill(self, what):
        """Sends a signal to the command, unless it has ended."""
        if self.process.poll() is None:
            self.disturbed = self.disturbed or f"killed by {what.name}"
            self.process.send_signal(what)

    def ended(self):
        return self.process.poll() is not None


def listens(node, port):
    """Whether somebody listens on a TCP port."""
    shown = ["ip", "netns", "exec", node, "ss", "-Hltn", f"sport = {port}"]
    return bool(subprocess.run(shown, capture_output=True, check=True).stdout)


class Load:
    def __init__(self, seconds, seed):
        self.end = time.monotonic() + seconds
        self.random = random.Random(seed)
        self.counts = collections.Counter()
        self.wrong = []
        self.sends = []
        self.running = None
        self.number = 0
        pathlib.Path("sent").mkdir()
        pathlib.Path("received").mkdir()
        pathlib.Path("killed.toml").write_text(RUN)
        pathlib.Path("tmp").mkdir()
        os.environ["TMPDIR"] = str(pathlib.Path("tmp").resolve())
        self.gateways = {node: self.gateway(node) for node in GATEWAYS}
        self.receiver = self.receive()

    def gateway(self, node):
        local, peer, prefix = GATEWAYS[node]
        return Command(
            node, "gateway", "--log", f"{node}.log", "--inside-interface", "in", "--local", local,
            "--peer", peer, "--prefix", prefix, "--private-key-file", f"{node}.key",
            "--public-key", PUBLIC[node].read_text().strip(),
        )  # fmt: skip

    def receive(self):
        command = Command(
            "b", "recv", "--listen", "10.2.0.2", "--secret-file", "key", "--packet-log-dir", "received",
            "--max-sessions", "16",
        )  # fmt: skip
        # A sender that comes earlier is rejected.
        while not command.ended() and not listens("b", 7770):
            time.sleep(0.01)
        return command

    def send(self):
        self.number += 1
        chosen = self.random.choice(
            [
                ["--gap", "1ms", "--message", "uniform:28,1200"],
                ["--gap", "exponential:2ms", "--message", "64", "--flows", "3"],
                ["--meter", "round-trip", "--gap", "2ms"],
                ["--protocol", "tcp", "--payload-rate", "2mbit"],
                ["--protocol", "tcp", "--meter", "round-trip", "--gap", "5ms", "--message", "1000"],
                ["--reverse", "--payload-rate", "1mbit"],
                ["--bidir", "--payload-rate", "1mbit"],
            ]
        )
        if chosen[0] not in ("--reverse", "--bidir"):
            chosen = [*chosen, "--packet-log", f"sent/{self.number}.jlog"]
        length = f"{self.random.randrange(300, 4000)}ms"
        return Command("a", "send", "10.2.0.2", "--secret-file", "key", "--duration", length, *chosen)

    def run(self):
        backend = self.random.choice(["sim", "netns"])
        self.number += 1
        self.results = f"run{self.number}"
        return Command(
            "a", "run", "killed.toml", "--on", backend, "--repeat", TRIALS // 2, "-o", self.results
        )

    def step(self):
        """Begins what may begin, and does harm to something."""
        now = time.monotonic()
        if now < self.end:
            if len(self.sends) < 4 and self.random.random() < 0.2:
                self.sends.append(self.send())
            if self.running is None:
                self.running = self.run()
            if self.random.random() < 0.03:
                self.harm()
        for send in [one for one in self.sends if one.ended()]:
            self.sends.remove(send)
            self.settle("send", send)
        if self.running and self.running.ended():
            self.settle_run()
        for command in [*self.sends, self.running]:
            if command and now - command.begun > TIMEOUT:
                self.wrong.append(f"hangs: {command.arguments}")
                command.process.kill()

    def harm(self):
        what = self.random.choice(SIGNALS)
        kind = self.random.choice(["send", "run", "recv", "ga", "gb", "worker", "pause"])
        if kind == "send" and self.sends:
            self.random.choice(self.sends).kill(what)
        elif kind == "run" and self.running:
            self.running.kill(what)
        elif kind == "worker" and self.running:
            self.kill_worker()
        elif kind == "recv":
            self.receiver = self.replaced("recv", self.receiver, what, self.receive)
        elif kind in GATEWAYS:
            self.gateways[kind] = self.replaced(
                "gateway", self.gateways[kind], what, lambda: self.gateway(kind)
            )
        elif kind == "pause":
            paused = self.random.choice([self.receiver, *self.gateways.values()])
            self.counts["paused"] += 1
            paused.process.send_signal(signal.SIGSTOP)
            time.sleep(self.random.uniform(0.05, 0.5))
            paused.process.send_signal(signal.SIGCONT)

    def replaced(self, name, command, what, again):
        command.kill(what)
        for send in self.sends:
            send.disturbed = send.disturbed or f"{name} killed"
        self.settle(name, command)
        return again()

    def kill_worker(self):
        """Kills one of the processes that the run started."""
        parents = {}
        for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = status.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents[int(status.parent.name)] = int(fields[1])
        children = [child for child, parent in parents.items() if parent == self.running.process.pid]
        if children:
            self.running.disturbed = self.running.disturbed or "a worker killed"
            os.kill(self.random.choice(children), signal.SIGKILL)

    def settle(self, name, command):
        """Counts a command that has ended or ends now."""
        try:
            said, _ = command.process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            self.wrong.append(f"does not end: {command.arguments}")
            command.process.kill()
            said, _ = command.process.communicate()
        code = command.process.returncode
        self.counts[f"{name}, {command.disturbed or 'undisturbed'}: {code}"] += 1
        if "panicked" in said or (command.disturbed is None and code not in (0, 1)):
            self.wrong.append(f"{code} of {command.arguments}: {said[-300:]}")
        return code

    def settle_run(self):
        """A run that did not end by itself is resumed, until all its trials are there."""
        run, self.running = self.running, None
        code = self.settle("run", run)
        if run.disturbed and code not in (0, 1):
            begun = pathlib.Path(self.results, "plan.toml").exists()
            self.running = self.again(run.arguments) if begun else None
            return
        journal = pathlib.Path(self.results, "trials.jsonl")
        lines = journal.read_text().splitlines() if journal.exists() else []
        trials = {json.loads(line)["id"] for line in lines}
        if len(trials) != TRIALS:
            self.wrong.append(f"{len(trials)} trials in {self.results}, not {TRIALS}")
        self.counts["complete runs"] += 1

    def again(self, arguments):
        resumed = [] if "--resume" in arguments else ["--resume"]
        return Command("a", *arguments, *resumed)

    def finish(self):
        """Ends what still runs; what is left afterwards is wrong."""
        while self.sends or self.running:
            self.step()
            time.sleep(0.05)
        for name, command in [("recv", self.receiver), *(("gateway", one) for one in self.gateways.values())]:
            command.process.send_signal(signal.SIGINT)
            command.disturbed = "ended"
            code = self.settle(name, command)
            if code not in (0, 130):
                self.wrong.append(f"{name} ends with {code}")
        for log in [*pathlib.Path("sent").iterdir(), *pathlib.Path("received").iterdir()]:
            self.decode(log)
        self.leftovers()

    def decode(self, log):
        decoded = subprocess.run([PROGRAM, "decode", log], capture_output=True, text=True)
        self.counts[f"log of {log.parent}: {decoded.returncode}"] += 1
        # A command that was killed before it wrote a block leaves an empty log.
        if "panicked" in decoded.stderr or (decoded.returncode > 1 and log.stat().st_size > 100):
            self.wrong.append(f"{log}: {decoded.stderr}")

    def leftovers(self):
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                is_ours = os.path.realpath(process / "exe") == os.path.realpath(PROGRAM)
            except OSError:
                continue
            if is_ours:
                self.wrong.append(f"left: {(process / 'cmdline').read_bytes()}")
        names = {path.name for path in pathlib.Path("/run/netns").iterdir()}
        if names != set(NODES):
            self.wrong.append(f"namespaces: {names}")
        links = {"a": 2, "ga": 3, "c": 3, "gb": 3, "b": 2}
        for node in NODES:
            shown = subprocess.run(["ip", "-n", node, "-o", "link"], capture_output=True, text=True)
            if len(shown.stdout.splitlines()) != links[node]:
                self.wrong.append(f"interfaces of {node}: {shown.stdout}")
            shown = subprocess.run(
                ["ip", "netns", "exec", node, "ss", "-Hlntu"], capture_output=True, text=True
            )
            if shown.stdout:
                self.wrong.append(f"sockets of {node}: {shown.stdout}")
        left = [path.name for path in pathlib.Path("tmp").iterdir()]
        if left:
            self.wrong.append(f"temporary files: {left}")


def main():
    load = Load(float(sys.argv[1]), int(sys.argv[2]))
    while time.monotonic() < load.end:
        load.step()
        time.sleep(0.05)
    load.finish()
    print(json.dumps({"counts": dict(sorted(load.counts.items())), "wrong": load.wrong}))


main()
