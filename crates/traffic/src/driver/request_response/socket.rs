//! Blocking sockets with the options of request/response traffic. The program of the
//! study makes blocking calls, which need no second system call.

use std::net::SocketAddr;

use units::Span;

use super::RequestResponse;
use super::tcp_info::segments;
use crate::driver::trial_token::{self, Token};
use os::error::Result;
use os::socket::{Options, Socket};

/// The longest time to establish a connection.
const CONNECTING: Span = Span::from_secs(30);

/// A socket connected to `port` of the answering end, which has shown `token`, and the segments
/// that this took, as [`segments`] counts.
pub(super) fn connected(
    request_response: &RequestResponse,
    token: &Token,
    port: u16,
) -> Result<(Socket, [u64; 2])> {
    let options = Options {
        // On a lossy link the first SYN may be lost; the next follows a second later.
        timeout: Some(CONNECTING),
        ..request_response.options()
    };
    let protocol = request_response.protocol;
    let to = SocketAddr::new(request_response.address, port);
    let socket = trial_token::connect(protocol, to, &options, CONNECTING)?;
    let before = segments(&socket).unwrap_or_default();
    trial_token::show(&socket, protocol, token, to, CONNECTING)?;
    let after = segments(&socket).unwrap_or_default();
    let took = [0, 1].map(|place| after[place].saturating_sub(before[place]));
    Ok((socket, took))
}
