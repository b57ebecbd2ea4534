//! Hosts that are namespaces with a real `sshd` each, the network between them, and a
//! controller that reaches them by `ssh`.

mod namespace;
mod state;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use namespace::Namespace;
use os::clock;
pub(crate) use state::State;
use tempfile::TempDir;
use units::Span;

/// The folder into which all tests copy the program by `ssh`, once.
static CACHE: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().unwrap());

/// The bridges of a [`Between::Switches`].
const SWITCHES: [&str; 2] = ["one", "two"];

/// The network of a bed, whose interfaces have MTU 9000.
#[derive(Clone, Copy)]
pub(crate) enum Between {
    /// A cable between `a` and `b`.
    Cable,
    /// A switch between `a` and `b` with ports of this MTU.
    Switch(u32),
    /// A router `r` between `a` and `b`: a host with the interfaces `to-a` and `to-b`.
    Router,
    /// Two switches with a cable between them; the hosts `a`, `b`, `c` and `d` are behind
    /// the first.
    Switches,
}

/// Hosts with an interface `meas` each in the measured network, with the addresses
/// `10.8.0.NUMBER` and `fd09::NUMBER`, and one, `mgmt`, to the controller with the address
/// `10.9.NUMBER.2`. `a` has the number 1. Behind a router the addresses are in networks
/// `10.8.NUMBER.0/24` and `fd09:NUMBER::/64` instead, where the router has host number 9.
pub(crate) struct Bed {
    // Dropped first, while their parts of the network are there.
    hosts: Vec<Host>,
    controller: Namespace,
    /// The switches.
    network: Namespace,
    between: Between,
    folder: TempDir,
}

struct Host {
    name: &'static str,
    number: usize,
    namespace: Namespace,
}

impl Bed {
    pub(crate) fn new(between: Between) -> Self {
        let folder = TempDir::new().unwrap();
        for key in ["key", "host_key"] {
            let path = folder.path().join(key);
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(path)
                .status();
            assert!(made.unwrap().success());
        }
        let names: &[&str] = match between {
            Between::Cable | Between::Switch(_) => &["a", "b"],
            Between::Router => &["a", "b", "r"],
            Between::Switches => &["a", "b", "c", "d"],
        };
        let mut bed = Self {
            hosts: Vec::new(),
            controller: Namespace::of_controller(&folder.path().join("small")),
            network: Namespace::of_network(),
            between,
            folder,
        };
        bed.build_network();
        let key = fs::read_to_string(bed.path("host_key.pub")).unwrap();
        let mut config = format!(
            "Host gone\n HostName 10.9.1.77\nHost *\n User root\n IdentityFile {0}/key\n IdentitiesOnly yes\n UserKnownHostsFile {0}/known\n GlobalKnownHostsFile none\n LogLevel ERROR\n",
            bed.folder.path().display()
        );
        let mut known = String::new();
        for (name, number) in names.iter().zip(1..) {
            let address = format!("10.9.{number}.2");
            config += &format!("Host {name}\n HostName {address}\n");
            known += &format!("{address} {key}");
            bed.write_host(name, &address);
            let namespace = bed.namespace(name, number);
            bed.hosts.push(Host {
                name,
                number,
                namespace,
            });
        }
        bed.join_hosts();
        fs::write(bed.path("config"), config).unwrap();
        fs::write(bed.path("known"), known).unwrap();
        bed.hosts.iter_mut().for_each(|host| host.namespace.serve());
        bed
    }

    fn build_network(&self) {
        if let Between::Switch(_) | Between::Switches = self.between {
            for switch in SWITCHES {
                self.network
                    .ip(&format!("link add {switch} mtu 9000 type bridge"));
                self.network.ip(&format!("link set {switch} up"));
            }
            let uplink = "link add up-one mtu 9000 type veth peer name up-two mtu 9000";
            self.network.ip(uplink);
            for switch in SWITCHES {
                let line = format!("link set up-{switch} master {switch} up");
                self.network.ip(&line);
            }
        }
    }

    /// Writes the files of a host: its `sshd` listens at `address`.
    fn write_host(&self, name: &str, address: &str) {
        let (folder, own) = (self.folder.path(), self.host_folder(name));
        for part in ["bin", "home", "tmp"] {
            fs::create_dir_all(own.join(part)).unwrap();
        }
        std::os::unix::fs::symlink(CACHE.path(), own.join("home/.cache")).unwrap();
        let (folder, own) = (folder.display(), own.display());
        let text = format!(
            "ListenAddress {address}\nHostKey {folder}/host_key\nAuthorizedKeysFile {folder}/key.pub\nPidFile none\nStrictModes no\nUsePAM no\nUseDNS no\nPermitRootLogin yes\nPasswordAuthentication no\nMaxStartups 100\nSetEnv PATH={own}/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME={own}/home TMPDIR={own}/tmp\n"
        );
        fs::write(self.host_folder(name).join("sshd"), text).unwrap();
    }

    /// A host with its interface to the controller, and that to a switch.
    fn namespace(&self, name: &str, number: usize) -> Namespace {
        let namespace = Namespace::of_host(&self.host_folder(name));
        namespace.link(
            &self.controller,
            [("mgmt", 1_500), (&format!("to-{name}"), 1_500)],
        );
        // A host that boots again has the addresses that others know.
        namespace.ip(&format!("link set mgmt address 02:00:00:00:01:0{number}"));
        namespace.ip(&format!("addr add 10.9.{number}.2/24 dev mgmt"));
        let port = format!("addr add 10.9.{number}.1/24 dev to-{name}");
        self.controller.ip(&port);
        let mtu = match self.between {
            Between::Cable | Between::Router => return namespace,
            Between::Switch(mtu) => mtu,
            Between::Switches => 9_000,
        };
        namespace.link(
            &self.network,
            [("meas", 9_000), (&format!("port-{name}"), mtu)],
        );
        self.network.ip(&format!("link set port-{name} master one"));
        namespace.ip(&format!("link set meas address 02:00:00:00:02:0{number}"));
        address(&namespace, number);
        namespace
    }

    /// Joins hosts without a switch.
    fn join_hosts(&self) {
        let ends = ["a", "b"];
        match self.between {
            Between::Cable => {
                let [a, b] = ends.map(|name| &self.host(name).namespace);
                a.link(b, [("meas", 9_000), ("meas", 9_000)]);
                address(a, 1);
                address(b, 2);
            }
            Between::Router => {
                let router = &self.host("r").namespace;
                let mut sysctl = router.command("sysctl");
                sysctl.args(["-q", "-w", "net.ipv4.ip_forward=1"]);
                sysctl.arg("net.ipv6.conf.all.forwarding=1");
                assert!(sysctl.status().unwrap().success());
                for (name, number, other) in [("a", 1, 2), ("b", 2, 1)] {
                    let host = &self.host(name).namespace;
                    let there = format!("to-{name}");
                    host.link(router, [("meas", 9_000), (&there, 9_000)]);
                    for (who, device, last) in [(host, "meas", number), (router, &*there, 9)] {
                        who.ip(&format!("addr add 10.8.{number}.{last}/24 dev {device}"));
                        who.ip(&format!(
                            "addr add fd09:{number}::{last}/64 dev {device} nodad"
                        ));
                    }
                    host.ip(&format!("route add 10.8.{other}.0/24 via 10.8.{number}.9"));
                    host.ip(&format!("route add fd09:{other}::/64 via fd09:{number}::9"));
                }
            }
            Between::Switch(_) | Between::Switches => {}
        }
    }

    #[track_caller]
    fn host(&self, name: &str) -> &Host {
        let found = self.hosts.iter().find(|host| host.name == name);
        found.unwrap_or_else(|| panic!("there is no host {name}"))
    }

    /// The output of `ip` with the arguments of `line` on a host.
    #[track_caller]
    pub(crate) fn ip(&self, host: &str, line: &str) -> String {
        self.host(host).namespace.ip(line)
    }

    /// A command in the network of a host.
    pub(crate) fn on(&self, host: &str, program: &str) -> Command {
        self.host(host).namespace.command(program)
    }

    /// The output of `ip` in the network of the switches, where `port-a` leads to the
    /// host `a`, a switch is `one` or `two`, and their cable has the ends `up-one` and
    /// `up-two`.
    #[track_caller]
    pub(crate) fn network(&self, line: &str) -> String {
        self.network.ip(line)
    }

    /// A path in the folder in which commands run at the controller.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder of a host, where `bin` is first in its PATH, `home` is its home, and `tmp`
    /// has its temporary files.
    pub(crate) fn host_folder(&self, host: &str) -> PathBuf {
        self.path(&format!("host-{host}"))
    }

    /// Writes a program of a host.
    pub(crate) fn program(&self, host: &str, name: &str, text: &str) {
        let path = self.host_folder(host).join("bin").join(name);
        write_program(&path, text);
    }

    /// Gives `ssh` options for a destination, in front of all others.
    pub(crate) fn alias(&self, name: &str, options: &[&str]) {
        let config = fs::read_to_string(self.path("config")).unwrap();
        let options = options.join("\n ");
        fs::write(
            self.path("config"),
            format!("Host {name}\n {options}\n{config}"),
        )
        .unwrap();
    }

    /// Makes destinations that cannot be used, each for the reason in its name; `c` is of
    /// another kind, and `sudo` wants a password at `d`.
    pub(crate) fn spoil_destinations(&self) {
        let key = fs::read_to_string(self.path("key.pub")).unwrap();
        fs::write(self.path("wrong-keys"), format!("10.9.1.2 {key}")).unwrap();
        let known_in = |name: &str| format!("UserKnownHostsFile {}", self.path(name).display());
        let here = "HostName 10.9.1.2";
        self.alias("wrong-key", &[here, &known_in("wrong-keys")]);
        self.alias("unknown-key", &[here, &known_in("none")]);
        self.alias("no-key", &[here, "PubkeyAuthentication no"]);
        self.alias("rejecting", &[here, "Port 23"]);
        self.alias("routeless", &["HostName 10.77.0.1"]);
        let uname = "#!/bin/sh\ncase $1 in -m) echo riscv64;; *) echo Linux;; esac\n";
        self.program("c", "uname", uname);
        let sudo = "#!/bin/sh\necho \"sudo: a password is required\" >&2\nexit 1\n";
        self.program("d", "sudo", sudo);
    }

    /// Runs the program at the controller.
    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// The program at the controller.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let config = self.path("config");
        let mut command = self.at_controller(env!("CARGO_BIN_EXE_jumbolab"));
        command
            .args(words)
            .env("JUMBOLAB_SSH", format!("ssh -F {}", config.display()))
            .stdin(Stdio::null());
        command
    }

    /// A command at the controller, which has a small disk of its own in the folder `small`.
    fn at_controller(&self, program: &str) -> Command {
        let mount = format!("--mount={}", self.controller.path("mnt"));
        let mut command = self.controller.command_with(&[&mount], "env");
        command.arg("-C").arg(self.folder.path()).arg(program);
        command
    }

    /// The small disk, as this process sees it.
    pub(crate) fn small_disk(&self) -> PathBuf {
        self.controller
            .root()
            .join(self.path("small").strip_prefix("/").unwrap())
    }

    /// Runs a command at the controller that sees the small disk. Returns whether it
    /// succeeded.
    pub(crate) fn on_small_disk(&self, words: &[&str]) -> bool {
        let mut command = self.at_controller(words[0]);
        let output = command.args(&words[1..]).output().unwrap();
        output.status.success()
    }

    /// Ends all processes of a host at once, with its interfaces, as a loss of power does.
    pub(crate) fn power_off(&mut self, host: &str) {
        self.host(host);
        let found = self.hosts.iter_mut().find(|one| one.name == host);
        found.unwrap().namespace.end();
        // The kernel removes the interfaces of a namespace some time after its last process.
        for (network, port) in [(&self.controller, "to"), (&self.network, "port")] {
            let mut remove = network.command("ip");
            remove.args(["link", "del", &format!("{port}-{host}")]);
            // It fails where the kernel was faster.
            remove.output().unwrap();
        }
    }

    /// Boots a host that was without power.
    pub(crate) fn boot(&mut self, host: &str) {
        let position = self.hosts.iter().position(|one| one.name == host);
        let position = position.unwrap();
        let mut namespace = self.namespace(host, self.hosts[position].number);
        namespace.serve();
        self.hosts[position].namespace = namespace;
    }

    /// Mends what was cut.
    pub(crate) fn mend(&self, host: &str) {
        self.controller.ip(&format!("link set to-{host} up"));
    }

    /// The MTU of an interface of a host.
    pub(crate) fn mtu(&self, host: &str, interface: &str) -> String {
        let shown = self.ip(host, &format!("-o link show {interface}"));
        let mut words = shown.split(' ').skip_while(|word| *word != "mtu");
        words.nth(1).unwrap().to_owned()
    }

    /// Takes down the link between the controller and a host.
    pub(crate) fn cut(&self, host: &str) {
        self.controller.ip(&format!("link set to-{host} down"));
    }
}

/// Addresses of the host of this number in the network of a cable or switch.
fn address(host: &Namespace, number: usize) {
    host.ip(&format!("addr add 10.8.0.{number}/24 dev meas"));
    host.ip(&format!("addr add fd09::{number}/64 dev meas nodad"));
}

/// Writes a program by another process: a test that starts a program meanwhile would hand
/// it a file that is open for writing, and nobody can execute such a file.
pub(crate) fn write_program(path: &Path, text: &str) {
    let mut command = Command::new("install");
    command.args(["-m", "755", "/dev/stdin"]).arg(path);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

/// Sends a signal to processes, which may have ended.
pub(crate) fn signal(signal: &str, processes: &[u32]) {
    for id in processes {
        let mut kill = Command::new("kill");
        let kill = kill.args([signal, &id.to_string()]);
        let _ = kill.stderr(Stdio::null()).status().unwrap();
    }
}

/// Waits until `holds`, for at most half a minute.
#[track_caller]
pub(crate) fn until(mut holds: impl FnMut() -> bool) {
    let deadline = clock::monotonic() + Span::from_secs(30);
    while !holds() {
        assert!(clock::monotonic() < deadline, "not within half a minute");
        clock::sleep(Span::from_millis(20));
    }
}
