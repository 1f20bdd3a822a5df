//! JSON values of an unknown form, and no more of them than allowed: a value takes some hundred bytes of memory, and a
//! text may have one in every two of its own. A field that is given twice is refused, because which one counts would be
//! a matter of the reader.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads values as long as there is room for them.
pub(crate) struct Values {
    max: usize,
    left: usize,
}

impl Values {
    /// Makes room for `max` values, those inside of others included.
    pub(crate) fn at_most(max: usize) -> Self {
        Self { max, left: max }
    }

    /// Puts a field into an object that is being read.
    pub(crate) fn put<E: Error>(fields: &mut Map<String, Value>, name: String, value: Value) -> Result<(), E> {
        if fields.contains_key(&name) {
            return Err(E::custom(format_args!("the field `{name}` is given twice")));
        }
        fields.insert(name, value);
        Ok(())
    }

    fn take<E: Error>(&mut self) -> Result<(), E> {
        let too_many = || E::custom(format_args!("has more than {} values", self.max));
        self.left = self.left.checked_sub(1).ok_or_else(too_many)?;
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Values {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Values {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.take()?;
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.take()?;
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.take()?;
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.take()?;
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.take()?;
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.take()?;
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        self.take()?;
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.take()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(&mut *self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.take()?;
        let mut fields = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(&mut *self)?;
            Values::put(&mut fields, name, value)?;
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str, max: usize) -> Result<Value, String> {
        let mut json = serde_json::Deserializer::from_str(text);
        Values::at_most(max).deserialize(&mut json).map_err(|error| error.to_string())
    }

    impl Values {
        fn deserialize<'de, D: Deserializer<'de>>(mut self, deserializer: D) -> Result<Value, D::Error> {
            DeserializeSeed::deserialize(&mut self, deserializer)
        }
    }

    #[test]
    fn what_has_room_is_read_as_it_is() {
        let value = json!({"a": [1, -2, 0.5, "é", null, true, {}], "b": {"c": []}});
        assert_eq!(read(&value.to_string(), 11).unwrap(), value);
        assert!(read(&value.to_string(), 10).unwrap_err().starts_with("has more than 10 values"));
    }

    #[test]
    fn a_field_that_is_given_twice_is_refused() {
        let twice = read("{\"a\":{\"b\":1,\"b\":2}}", 10).unwrap_err();
        assert!(twice.starts_with("the field `b` is given twice"), "{twice}");
    }
}
