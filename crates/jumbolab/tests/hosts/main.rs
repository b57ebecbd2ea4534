//! The program between hosts that are namespaces with a real `sshd`: the backend `hosts`,
//! `probe --mesh` and `doctor HOST`. These tests need root, `ip`, `unshare`, `nsenter`,
//! `sshd`, `ssh` and `iperf3`.

mod bed;
mod doctor;
mod faults;
mod interrupted;
mod mesh;
mod meters;
mod run;
#[path = "../cli/schema.rs"]
mod schema;
mod servers;
mod unknown_senders;
