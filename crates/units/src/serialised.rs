//! How quantities are written: times in whole nanoseconds, rates in bit/s, probabilities as fractions of 1.
//!
//! What is read is valid: a value out of range is refused where it is read.

use crate::{Probability, Rate, Span, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The longest time, in nanoseconds; 213 days.
const MOST_NS: u64 = u64::MAX / 1000;

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.ns())
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_ns(deserializer).map(Span::from_ns)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.ns())
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_ns(deserializer).map(Time::from_ns)
    }
}

fn read_ns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let ns = u64::deserialize(deserializer)?;
    if ns > MOST_NS {
        return Err(D::Error::custom(format_args!("a time of {ns} ns exceeds 213 days")));
    }
    Ok(ns)
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.bits_per_s())
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bits_per_s = u64::deserialize(deserializer)?;
        Rate::from_bits_per_s(bits_per_s)
            .ok_or_else(|| D::Error::custom("a rate must be positive; a link that carries nothing is down"))
    }
}

impl Serialize for Probability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let p = f64::deserialize(deserializer)?;
        Probability::new(p)
            .ok_or_else(|| D::Error::custom(format_args!("a probability must lie between 0 and 1, not {p}")))
    }
}

/// The JSON Schema of a quantity that is a number.
macro_rules! schema_of_number {
    ($type:ident, $title:literal, $($schema:tt)+) => {
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                $title.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($($schema)+)
            }
        }
    };
}

schema_of_number!(Span, "Span", {"type": "integer", "format": "uint64", "minimum": 0});
schema_of_number!(Time, "Time", {"type": "integer", "format": "uint64", "minimum": 0});
schema_of_number!(Rate, "Rate", {"type": "integer", "format": "uint64", "minimum": 1});
schema_of_number!(Probability, "Probability", {"type": "number", "format": "double", "minimum": 0, "maximum": 1});

/// Implements `Serialize` and `Deserialize` for a type whose derives have `#[serde(remote = "Self")]` and whose
/// `check(&self) -> Result<(), InvalidValue>` states the rules between its fields: what is read has passed it.
#[macro_export]
macro_rules! checked_when_read {
    ($($type:ty),+ $(,)?) => {$(
        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = Self::deserialize(deserializer)?;
                value.check().map_err(::serde::de::Error::custom)?;
                Ok(value)
            }
        }
    )+};
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::value::{Error, F64Deserializer, U64Deserializer};

    fn number<'de, T: Deserialize<'de>>(value: u64) -> Result<T, Error> {
        T::deserialize(U64Deserializer::new(value))
    }

    fn fraction(value: f64) -> Result<Probability, Error> {
        Probability::deserialize(F64Deserializer::new(value))
    }

    #[test]
    fn what_is_out_of_range_is_refused_where_it_is_read() {
        assert!(number::<Rate>(0).is_err());
        assert!(number::<Span>(u64::MAX).is_err());
        for wrong in [-0.1, 1.1, f64::NAN] {
            assert!(fraction(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_read_in_nanoseconds() {
        assert_eq!(number::<Span>(5_000), Ok(Span::from_us(5)));
        assert_eq!(number::<Time>(7), Ok(Time::from_ns(7)));
        assert_eq!(number::<Rate>(10).map(Rate::bits_per_s), Ok(10));
    }

    #[test]
    fn a_probability_is_written_as_it_was_read() {
        for p in [0.0, 1e-9, 0.0001, 0.1, 1.0 / 3.0, 1.0] {
            assert_eq!(fraction(p).map(Probability::as_f64), Ok(p));
        }
    }
}
