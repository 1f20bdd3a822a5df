//! The head of a message: as much of it as it takes to refuse it under its id, read without building any of the rest.

use std::fmt;

use rmcp::model::{NumberOrString, RequestId};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

#[derive(Debug, PartialEq)]
pub(super) struct MessageHead {
    pub(super) id: Option<RequestId>,
    /// The message names a method: with an id it is a request, without one a notification.
    pub(super) is_call: bool,
}

impl<'de> Deserialize<'de> for MessageHead {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MessageHeadVisitor;

        impl<'de> Visitor<'de> for MessageHeadVisitor {
            type Value = MessageHead;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MessageHead, A::Error> {
                let mut head = MessageHead { id: None, is_call: false };
                while let Some(name) = map.next_key::<String>()? {
                    match name.as_str() {
                        "id" => head.id = map.next_value::<Id>()?.0,
                        name => {
                            head.is_call |= name == "method";
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(head)
            }
        }

        deserializer.deserialize_map(MessageHeadVisitor)
    }
}

/// A number or a string. Anything else is no id.
struct Id(Option<RequestId>);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdVisitor;

        impl Visitor<'_> for IdVisitor {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a string")
            }

            fn visit_i64<E>(self, number: i64) -> Result<Id, E> {
                Ok(Id(Some(NumberOrString::Number(number))))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Id, E> {
                Ok(Id(i64::try_from(number).ok().map(NumberOrString::Number)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Id, E> {
                Ok(Id(Some(NumberOrString::String(text.into()))))
            }
        }

        deserializer.deserialize_any(IdVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        let head = |text: &str| serde_json::from_str::<MessageHead>(text).ok();
        let seven = Some(NumberOrString::Number(7));
        let call = "{\"method\":\"m\",\"params\":{\"id\":[0,{\"a\":1}]},\"id\":7}";
        assert_eq!(head(call), Some(MessageHead { id: seven, is_call: true }));
        let named = Some(NumberOrString::String("x".into()));
        assert_eq!(head("{\"id\":\"x\",\"result\":{}}"), Some(MessageHead { id: named, is_call: false }));
        assert_eq!(head("{\"method\":\"m\"}"), Some(MessageHead { id: None, is_call: true }));
        for text in ["{\"id\":[0,0]}", "{\"id\":{}}", "[0]", "{\"id\":7"] {
            assert_eq!(head(text), None, "{text}");
        }
    }
}
