//! Readers and writers of the fields of a message's body.

use super::LONGEST;
use crate::octets::{array, demand};
use crate::{Error, Field};

pub(super) fn require(holds: bool, field: Field) -> Result<(), Error> {
    if holds {
        Ok(())
    } else {
        Err(Error::Malformed(field))
    }
}

/// The fields of a body, one after the other.
pub(super) struct Fields<'a> {
    pub(super) octets: &'a [u8],
    pub(super) at: usize,
}

impl Fields<'_> {
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        demand(self.octets, self.at + N)?;
        let field = array(self.octets, self.at)?;
        self.at += N;
        Ok(field)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Error> {
        self.array().map(u8::from_be_bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_be_bytes)
    }

    pub(super) fn bool(&mut self) -> Result<bool, Error> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Error::Malformed(Field::Flags)),
        }
    }
}

/// Room for the fields of a body: the longest message has some to spare.
pub(super) struct Room<'a> {
    pub(super) room: &'a mut [u8; LONGEST],
    pub(super) at: usize,
}

impl Room<'_> {
    pub(super) fn put(&mut self, octets: &[u8]) -> &mut Self {
        self.room[self.at..self.at + octets.len()].copy_from_slice(octets);
        self.at += octets.len();
        self
    }

    pub(super) fn u16(&mut self, number: u16) -> &mut Self {
        self.put(&number.to_be_bytes())
    }

    pub(super) fn u64(&mut self, number: u64) -> &mut Self {
        self.put(&number.to_be_bytes())
    }
}
