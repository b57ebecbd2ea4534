//! Random values of any type that is read from JSON.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde::de::value::{Error, StrDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Expected, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

/// Values that a type rejects before one is given up.
const TRIES: u64 = 1_000;

/// A value of the type that `seed` gives.
pub(super) fn random<T: DeserializeOwned>(seed: u64) -> T {
    let mut tries = (0..TRIES).filter_map(|again| {
        let mut source = ChaCha8Rng::seed_from_u64(seed.wrapping_add(again << 32));
        T::deserialize(Random(&mut source)).ok()
    });
    let name = std::any::type_name::<T>();
    tries
        .next()
        .unwrap_or_else(|| panic!("no value of {name} was found"))
}

/// Gives each visitor what it expects.
struct Random<'a>(&'a mut ChaCha8Rng);

impl Random<'_> {
    fn number(&mut self) -> u64 {
        match self.0.random_range(0..4) {
            0 => self.0.random_range(0..4),
            1 => self.0.random_range(0..100_000),
            2 => self.0.random(),
            _ => u64::MAX,
        }
    }

    fn words(&mut self, expected: &str) -> String {
        let words: &[&str] = match expected {
            "IP address" => &["10.0.0.1", "fd00::1"],
            "socket address" => &["10.0.0.1:1", "[fd00::1]:65535"],
            _ => &[
                "",
                "eth0",
                "cubic",
                "a\n\u{1b}[2J\u{202e}",
                "{\"Ok\":\"[\\\"",
            ],
        };
        words[self.0.random_range(0..words.len())].to_owned()
    }
}

/// Methods that give a random number of their type.
macro_rules! numbers {
    ($($method:ident $visit:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                visitor.$visit(self.0.random())
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Random<'_> {
    type Error = Error;

    numbers! {
        deserialize_bool visit_bool
        deserialize_u8 visit_u8
        deserialize_u16 visit_u16
        deserialize_u32 visit_u32
        deserialize_u128 visit_u128
        deserialize_i8 visit_i8
        deserialize_i16 visit_i16
        deserialize_i32 visit_i32
        deserialize_i64 visit_i64
        deserialize_char visit_char
    }

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u64(self.number())
    }

    fn deserialize_u64<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u64(self.number())
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_f64(f64::from(self.0.random::<i32>()) / 1024.0)
    }

    fn deserialize_str<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        let expected = (&visitor as &dyn Expected).to_string();
        visitor.visit_string(self.words(&expected))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.random() {
            true => visitor.visit_some(self),
            false => visitor.visit_none(),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let left = self.0.random_range(0..3);
        visitor.visit_seq(Elements(self.0, left))
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_seq(Elements(self.0, length))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let left = self.0.random_range(0..3);
        visitor.visit_map(Elements(self.0, left))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_map(Fields(self.0, fields))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let variant = variants[self.0.random_range(0..variants.len())];
        visitor.visit_enum(Variant(self.0, variant))
    }

    forward_to_deserialize_any! {
        f32 bytes byte_buf unit_struct identifier ignored_any
    }
}

/// So many elements of a sequence or a map.
struct Elements<'a>(&'a mut ChaCha8Rng, usize);

impl Elements<'_> {
    fn next(&mut self) -> Option<Random<'_>> {
        self.1 = self.1.checked_sub(1)?;
        Some(Random(self.0))
    }
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        self.next()
            .map(|random| seed.deserialize(random))
            .transpose()
    }
}

impl<'de> MapAccess<'de> for Elements<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        self.next()
            .map(|random| seed.deserialize(random))
            .transpose()
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(Random(self.0))
    }
}

/// The fields of a struct.
struct Fields<'a>(&'a mut ChaCha8Rng, &'static [&'static str]);

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some((first, rest)) = self.1.split_first() else {
            return Ok(None);
        };
        self.1 = rest;
        seed.deserialize(StrDeserializer::new(first)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(Random(self.0))
    }
}

/// A variant of an enum.
struct Variant<'a>(&'a mut ChaCha8Rng, &'static str);

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Error> {
        Ok((seed.deserialize(StrDeserializer::new(self.1))?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(Random(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Error> {
        Random(self.0).deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_map(Fields(self.0, fields))
    }
}
