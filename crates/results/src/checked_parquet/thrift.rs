//! Values in Thrift's compact protocol, by which Parquet describes its contents [Thrift].

use anyhow::{Context, Result, bail};

/// The most values inside each other. Parquet's own descriptions have 7.
const DEEPEST: usize = 12;

#[derive(Debug)]
pub(super) enum Value<'a> {
    /// A whole number or a boolean.
    Number(i64),
    Bytes(&'a [u8]),
    List(Vec<Self>),
    /// The fields of a structure by number.
    Fields(Vec<(i16, Self)>),
}

impl<'a> Value<'a> {
    /// The structure at the start of `bytes`, and its length.
    ///
    /// # Errors
    /// It is damaged, or longer than `bytes`.
    pub(super) fn read(bytes: &'a [u8]) -> Result<(Self, usize)> {
        let mut reader = Reader(bytes);
        let fields = reader.fields(DEEPEST)?;
        Ok((fields, bytes.len() - reader.0.len()))
    }

    /// Field `number` of a structure.
    pub(super) fn field(&self, number: i16) -> Option<&Self> {
        let Self::Fields(fields) = self else {
            return None;
        };
        let found = fields.iter().find(|(own, _)| *own == number);
        found.map(|(_, value)| value)
    }

    /// The number in field `number` of a structure.
    pub(super) fn number(&self, number: i16) -> Option<i64> {
        match self.field(number)? {
            Self::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// The same as a length or a count.
    pub(super) fn size(&self, number: i16) -> Option<usize> {
        usize::try_from(self.number(number)?).ok()
    }

    /// The list in field `number` of a structure.
    pub(super) fn list(&self, number: i16) -> Option<&[Self]> {
        match self.field(number)? {
            Self::List(values) => Some(values),
            _ => None,
        }
    }
}

/// The bytes that are still to be read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).context("it ends early")?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn variable(&mut self) -> Result<u64> {
        variable(&mut || self.byte().ok()).context("a number is damaged")
    }

    fn size(&mut self) -> Result<usize> {
        usize::try_from(self.variable()?).context("a length is too large")
    }

    fn signed(&mut self) -> Result<i64> {
        let coded = self.variable()?;
        Ok((coded >> 1).cast_signed() ^ -(coded & 1).cast_signed())
    }

    fn fields(&mut self, depth: usize) -> Result<Value<'a>> {
        let mut fields = Vec::new();
        let mut number = 0i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(Value::Fields(fields));
            }
            number = match head >> 4 {
                0 => i16::try_from(self.signed()?).context("a field number is too large")?,
                more => number.wrapping_add(more.into()),
            };
            let value = match head & 0xf {
                1 => Value::Number(1),
                2 => Value::Number(0),
                kind => self.value(kind, depth)?,
            };
            fields.push((number, value));
        }
    }

    /// A value of the type `kind` that is no boolean of a structure.
    fn value(&mut self, kind: u8, depth: usize) -> Result<Value<'a>> {
        let Some(depth) = depth.checked_sub(1) else {
            bail!("too many values inside each other");
        };
        Ok(match kind {
            1..=3 => Value::Number(self.byte()?.into()),
            4..=6 => Value::Number(self.signed()?),
            7 => Value::Bytes(self.take(8)?),
            8 => {
                let length = self.size()?;
                Value::Bytes(self.take(length)?)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.size()?,
                    few => few.into(),
                };
                // Each value takes a byte or more, so a hostile count ends with the bytes.
                let values = (0..count).map(|_| self.value(head & 0xf, depth));
                Value::List(values.collect::<Result<_>>()?)
            }
            12 => self.fields(depth)?,
            other => bail!("values of type {other} are not expected"),
        })
    }
}

/// The number that `next` gives in groups of seven bits, the low ones first.
pub(super) fn variable(next: &mut impl FnMut() -> Option<u8>) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = next()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
