//! What privileges may change: tests of what enters the sandbox, opens sockets of its own
//! or is rejected. As root, `.ci/run` leaves them to an ordinary user.

mod auto_rate;
mod backends;
mod calls;
mod doctor;
mod emulate;
mod endings;
mod hosts;
mod jumbograms;
mod kernel_tcp;
mod links;
mod local_host;
mod malformed;
mod mesh;
mod pictures;
pub(crate) mod probe;
mod readme;
mod runs;
mod sandbox;
mod shell;
mod tutorials;
mod web_server;
