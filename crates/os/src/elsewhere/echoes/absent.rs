//! No echo requests.

use std::env::consts::OS;
use std::net::IpAddr;

use super::{EchoAnswer, EchoRequest};
use crate::error::{Error, Result};

/// Echo requests, of which this system has none.
#[derive(Debug)]
pub enum Echoes {}

impl Echoes {
    /// Opens nothing.
    ///
    /// # Errors
    /// Always.
    pub fn open(_: IpAddr) -> Result<Self> {
        Err(Error::new(
            "sending echo requests",
            format!("the program cannot on {OS}"),
        ))
    }

    /// Sends a request.
    ///
    /// # Errors
    /// None.
    pub fn send(&mut self, _: EchoRequest) -> Result<()> {
        match *self {}
    }

    /// The answers since the last call.
    pub fn arrived(&mut self) -> Vec<EchoAnswer> {
        match *self {}
    }

    /// Whether answers are waited for.
    pub fn is_waiting(&self) -> bool {
        match *self {}
    }
}
