//! Network namespaces that end with the test, whatever ends it.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A network namespace, and with it all its processes if it is a host's.
pub(crate) struct Namespace {
    /// Ends when its input ends.
    holder: Child,
}

impl Namespace {
    /// A part of the network: it has no processes of its own.
    pub(crate) fn of_network() -> Self {
        Self::hold(&["--net"], "")
    }

    /// A machine that sees a small disk in `folder`.
    pub(crate) fn of_controller(folder: &Path) -> Self {
        let folder = folder.display();
        let script = format!("mkdir {folder} && mount -t tmpfs -o size=16m tmpfs {folder} && ");
        Self::hold(&["--net", "--mount"], &script)
    }

    /// A machine with a folder `/run` and processes of its own. [`Namespace::serve`]
    /// starts its `sshd`, whose configuration is the file `sshd` of `folder`.
    pub(crate) fn of_host(folder: &Path) -> Self {
        let folder = folder.display();
        // Without PAM, sshd lets nobody in whose password begins with an exclamation mark.
        let script = format!(
            "mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd &&
             sed 's/^root:[^:]*:/root:*:/' /etc/shadow >{folder}/shadow &&
             mount --bind {folder}/shadow /etc/shadow && echo && read -r serve &&
             /usr/sbin/sshd -f {folder}/sshd -E {folder}/log && "
        );
        let apart = ["--net", "--mount", "--pid", "--fork", "--mount-proc"];
        Self::hold(&apart, &script)
    }

    /// Unshares namespaces, does `first`, and keeps them. Where a step fails the process
    /// ends, so that nobody waits for it.
    fn hold(apart: &[&str], first: &str) -> Self {
        let script = format!("ip link set lo up && {first} echo && read -r end");
        let mut command = Command::new("unshare");
        command
            .args(apart)
            .args(["bash", "-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut namespace = Self {
            holder: command.spawn().unwrap(),
        };
        namespace.hear();
        namespace
    }

    /// Starts the `sshd` of a host, whose network is ready.
    pub(crate) fn serve(&mut self) {
        let input = self.holder.stdin.as_mut().unwrap();
        std::io::Write::write_all(input, b"\n").unwrap();
        self.hear();
    }

    fn hear(&mut self) {
        let mut ready = [0];
        let output = self.holder.stdout.as_mut().unwrap();
        output
            .read_exact(&mut ready)
            .expect("these tests need a real root, and sshd (Debian: openssh-server)");
    }

    /// The path of a namespace of the processes inside.
    pub(crate) fn path(&self, kind: &str) -> String {
        format!("/proc/{}/ns/{kind}", self.holder.id())
    }

    /// A command in this network, with the files and processes of the machine of the test.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        self.command_with(&[], program)
    }

    /// The same with more options of `nsenter`.
    pub(crate) fn command_with(
        &self,
        options: &[&str],
        program: impl AsRef<std::ffi::OsStr>,
    ) -> Command {
        let mut command = Command::new("nsenter");
        command
            .arg(format!("--net={}", self.path("net")))
            .args(options)
            .arg("--")
            .arg(program);
        command
    }

    /// The root of its files, as this process sees it.
    pub(crate) fn root(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root", self.holder.id()))
    }

    /// The output of `ip` with the arguments of `line`.
    #[track_caller]
    pub(crate) fn ip(&self, line: &str) -> String {
        let output = self.command("ip").args(line.split(' ')).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "ip {line}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Joins two namespaces by a link with these ends: name and MTU.
    pub(crate) fn link(&self, other: &Self, ends: [(&str, u32); 2]) {
        let [(here, mtu), (there, far_mtu)] = ends;
        let id = other.holder.id();
        self.ip(&format!(
            "link add {here} type veth peer name {there} netns {id}"
        ));
        self.ip(&format!("link set {here} mtu {mtu} up"));
        other.ip(&format!("link set {there} mtu {far_mtu} up"));
    }
}

impl Namespace {
    /// Ends it: the end of its input ends the first process, and with it all others of a
    /// host.
    pub(crate) fn end(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        self.end();
    }
}
