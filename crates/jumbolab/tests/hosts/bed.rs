//! Hosts that are network namespaces with a real `sshd`, and a controller in a third one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;

use live::clock;
use tempfile::TempDir;
use units::Span;

/// The folder into which all tests copy the program by `ssh`, once.
static CACHE: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().unwrap());

/// A network namespace, which ends with its process.
struct Namespace(Child);

impl Namespace {
    fn new() -> Self {
        let mut command = Command::new("unshare");
        command.args([
            "--net",
            "sh",
            "-c",
            "ip link set lo up && echo && exec sleep 600",
        ]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = [0];
        let output = child.stdout.as_mut().unwrap();
        std::io::Read::read_exact(output, &mut ready).expect("these tests need a real root");
        Self(child)
    }

    /// A command inside.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command
            .args(["--net", "--target", &self.0.id().to_string(), "--"])
            .arg(program);
        command
    }

    fn ip(&self, line: &str) -> String {
        let output = self.command("ip").args(line.split(' ')).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "ip {line}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Joins two namespaces by a link with these ends: name and MTU.
    fn link(&self, other: &Self, ends: [(&str, u32); 2]) {
        let [(here, mtu), (there, far_mtu)] = ends;
        let id = other.0.id();
        self.ip(&format!(
            "link add {here} type veth peer name {there} netns {id}"
        ));
        self.ip(&format!("link set {here} mtu {mtu} up"));
        other.ip(&format!("link set {there} mtu {far_mtu} up"));
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A host with its `sshd`.
struct Host {
    namespace: Namespace,
    sshd: Child,
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
    }
}

/// Two hosts, `a` and `b`, with an interface `meas` each in the measured network and one,
/// `mgmt`, to the controller.
pub(crate) struct Bed {
    folder: TempDir,
    hosts: [Host; 2],
    controller: Namespace,
    _switch: Option<Namespace>,
}

/// The connection of the hosts.
pub(crate) enum Between {
    /// A cable, whose ends have MTU 9000.
    Cable,
    /// A switch with MTU 1500.
    Switch,
}

impl Bed {
    pub(crate) fn new(between: &Between) -> Self {
        let folder = TempDir::new().unwrap();
        for key in ["key", "host_key"] {
            let path = folder.path().join(key);
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(path)
                .status();
            assert!(made.unwrap().success());
        }
        let [a, b, controller] = std::array::from_fn(|_| Namespace::new());
        let switch = match between {
            Between::Cable => {
                a.link(&b, [("meas", 9_000), ("meas", 9_000)]);
                None
            }
            Between::Switch => {
                let switch = Namespace::new();
                switch.ip("link add bridge0 type bridge");
                switch.ip("link set bridge0 up");
                for (host, port) in [(&a, "port1"), (&b, "port2")] {
                    host.link(&switch, [("meas", 9_000), (port, 1_500)]);
                    switch.ip(&format!("link set {port} master bridge0"));
                }
                Some(switch)
            }
        };
        let mut number = 0;
        let hosts = [a, b].map(|namespace| {
            number += 1;
            let port = format!("to{number}");
            namespace.link(&controller, [("mgmt", 1_500), (&port, 1_500)]);
            namespace.ip(&format!("addr add 10.9.0.{number}/24 dev meas"));
            namespace.ip(&format!("addr add fd09::{number}/64 dev meas nodad"));
            namespace.ip(&format!("addr add 10.9.{number}.2/24 dev mgmt"));
            controller.ip(&format!("addr add 10.9.{number}.1/24 dev {port}"));
            let sshd = sshd(&namespace, folder.path());
            Host { namespace, sshd }
        });
        let bed = Self {
            folder,
            hosts,
            controller,
            _switch: switch,
        };
        bed.configure("accept-new");
        for number in [1, 2] {
            bed.until(|| bed.connects(number));
        }
        bed
    }

    /// Writes the configuration of `ssh`, with the treatment of unknown host keys.
    pub(crate) fn configure(&self, unknown: &str) {
        let folder = self.folder.path().display();
        let text = format!(
            "Host a\n HostName 10.9.1.2\nHost b\n HostName 10.9.2.2\nHost gone\n HostName 10.9.1.77\nHost *\n User root\n IdentityFile {folder}/key\n IdentitiesOnly yes\n StrictHostKeyChecking {unknown}\n UserKnownHostsFile {folder}/known\n LogLevel ERROR\n"
        );
        fs::write(self.folder.path().join("config"), text).unwrap();
    }

    /// The folder in which commands run.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the program at the controller.
    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// The program at the controller.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let config = self.path("config");
        let mut command = self.controller.command(env!("CARGO_BIN_EXE_jumbolab"));
        command
            .args(words)
            .current_dir(self.folder.path())
            .env("JUMBOLAB_SSH", format!("ssh -F {}", config.display()))
            .stdin(Stdio::null());
        command
    }

    /// The MTU of an interface of a host.
    pub(crate) fn mtu(&self, host: usize, interface: &str) -> String {
        let shown = self.hosts[host]
            .namespace
            .ip(&format!("-o link show {interface}"));
        let mut words = shown.split(' ').skip_while(|word| *word != "mtu");
        words.nth(1).unwrap().to_owned()
    }

    /// Takes down the links between the controller and both hosts.
    pub(crate) fn cut(&self) {
        for port in ["to1", "to2"] {
            self.controller.ip(&format!("link set {port} down"));
        }
    }

    /// The ids of the agents' processes on a host.
    pub(crate) fn agents(&self, host: usize) -> Vec<u32> {
        let place = fs::read_link(format!(
            "/proc/{}/ns/net",
            self.hosts[host].namespace.0.id()
        ));
        let place = place.unwrap();
        let is_agent = |id: u32| {
            let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            let there = fs::read_link(format!("/proc/{id}/ns/net")).ok();
            words.ends_with(b"jumbolab\0agent\0") && there.as_ref() == Some(&place)
        };
        let all = fs::read_dir("/proc").unwrap().flatten();
        let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|id| is_agent(*id)).collect()
    }

    /// Waits until `holds`, for at most half a minute.
    #[track_caller]
    pub(crate) fn until(&self, holds: impl Fn() -> bool) {
        let deadline = clock::monotonic() + Span::from_secs(30);
        while !holds() {
            assert!(clock::monotonic() < deadline, "not within half a minute");
            clock::sleep(Span::from_millis(20));
        }
    }

    fn connects(&self, number: usize) -> bool {
        let port = format!("</dev/tcp/10.9.{number}.2/22");
        let mut bash = self.controller.command("bash");
        bash.args(["-c", &port]).stderr(Stdio::null());
        bash.status().unwrap().success()
    }
}

/// An `sshd` that admits the key of the bed.
fn sshd(namespace: &Namespace, folder: &Path) -> Child {
    let place = folder.display();
    let keys = folder.join("authorized");
    fs::copy(folder.join("key.pub"), &keys).unwrap();
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir_all("/run/sshd").unwrap();
    let text = format!(
        "HostKey {place}/host_key\nAuthorizedKeysFile {place}/authorized\nPidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPasswordAuthentication no\nClientAliveInterval 2\nClientAliveCountMax 2\nSetEnv XDG_CACHE_HOME={}\n",
        CACHE.path().display()
    );
    let config = folder.join("sshd_config");
    fs::write(&config, text).unwrap();
    let mut command = namespace.command("/usr/sbin/sshd");
    command.args(["-D", "-e", "-f"]).arg(config);
    command.stderr(Stdio::null()).spawn().unwrap()
}
