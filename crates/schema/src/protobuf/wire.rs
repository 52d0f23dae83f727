//! The wire format: numbers, lengths, fields.

use super::ProtobufError;

/// One field as it stands in a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum Raw<'a> {
    /// A whole number, a flag or an enumeration.
    Varint(u64),
    /// Eight bytes.
    Fixed64(u64),
    /// Four bytes.
    Fixed32(u32),
    /// Text, bytes or a message.
    Bytes(&'a [u8]),
}

/// The fields of a message, in their order.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    pub(super) fn next(&mut self) -> Result<Option<(u32, Raw<'a>)>, ProtobufError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).map_err(|_| ProtobufError::BadTag)?;
        let raw = match tag & 7 {
            0 => Raw::Varint(self.varint()?),
            1 => Raw::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| ProtobufError::Truncated)?;
                Raw::Bytes(self.take(length)?)
            }
            5 => Raw::Fixed32(u32::from_le_bytes(self.array()?)),
            _ => return Err(ProtobufError::BadTag),
        };
        Ok(Some((number, raw)))
    }

    pub(super) fn varint(&mut self) -> Result<u64, ProtobufError> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let (first, rest) = self.rest.split_first().ok_or(ProtobufError::Truncated)?;
            self.rest = rest;
            if shift < 64 {
                value |= u64::from(first & 0x7f) << shift;
            }
            if first & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ProtobufError::Truncated)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], ProtobufError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(ProtobufError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ProtobufError> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(ProtobufError::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }
}
