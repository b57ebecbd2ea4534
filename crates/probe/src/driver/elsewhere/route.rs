//! The source address that the system chooses, its interface, and the largest packets that the
//! system sends to the far end.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use units::Bytes;

use super::Outgoing;
use crate::driver::socket::{Ends, largest_sent};
use os::error::{Error, Result};
use os::interfaces::of_address;
use os::socket::{Kind, Options, address_of, begin_to_connect, open};

/// An interface that the system does not list, in commands that the user completes.
const UNNAMED: &str = "INTERFACE";

/// The port of the discard service, to which nothing is sent here [RFC863].
const DISCARD: u16 = 9;

impl Outgoing {
    /// Asks the system for the route to `to`, if given from one source address.
    ///
    /// # Errors
    /// An interface is named, there is no route, or the address is not this host's: one line
    /// with the remedy.
    pub fn toward(
        to: SocketAddr,
        interface: Option<&str>,
        address: Option<IpAddr>,
    ) -> Result<Self> {
        let doing = || format!("looking for a route to {}", to.ip());
        if interface.is_some() {
            let problem = "a choice of the interface needs Linux; leave --interface out";
            return Err(Error::new(doing(), problem));
        }
        let zone = match to {
            SocketAddr::V4(_) => 0,
            SocketAddr::V6(six) => six.scope_id(),
        };
        let any = match to {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        let options = Options {
            bind: Some(SocketAddr::new(address.unwrap_or(any), 0)),
            non_blocking: true,
            ..Options::default()
        };
        let socket = open(Kind::Datagram, to.ip(), &options)?;
        let mut discard = to;
        discard.set_port(DISCARD);
        begin_to_connect(&socket, discard).map_err(|error| {
            let error = std::io::Error::from(error);
            Error::new(doing(), format!("this host has none ({error})"))
        })?;
        let here = address_of(&socket)?.ip();
        let ends = Ends {
            to: discard,
            from: address,
            zone,
        };
        let mtu = largest_sent(&ends)?.ok_or_else(|| {
            let problem = "the system sends no packets whole there";
            Error::new(doing(), problem)
        })?;
        Ok(Self {
            interface: of_address(here).unwrap_or_else(|_| UNNAMED.to_owned()),
            index: zone,
            mtu: Bytes::new(mtu.into()),
            // Then no MTU below 1280 is advised.
            ipv6: true,
            loopback: here == to.ip(),
            address: here,
            gateway: None,
        })
    }
}
