use proptest::prelude::*;
use rstest::rstest;

use super::*;

const KEY: &str = "sk-or-v1-0a1b2c3d4e5f60718293a4b5c6d7e8f9";

fn redaction() -> Redaction {
    Redaction::of(Some(KEY.into()))
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

#[rstest]
#[case::whole(format!("bad key {KEY}."), "bad key [key].")]
#[case::twice(format!("{KEY} is not {KEY}"), "[key] is not [key]")]
#[case::upper(KEY.to_uppercase(), "[key]")]
#[case::first_part(format!("key {}… is bad", &KEY[..12]), "key [key]… is bad")]
#[case::last_part(format!("key …{} is bad", &KEY[30..]), "key …[key] is bad")]
#[case::eight(KEY[20..28].to_owned(), "[key]")]
#[case::seven(KEY[20..27].to_owned(), &KEY[20..27])]
#[case::both_ends(format!("{}****{}", &KEY[..9], &KEY[37..]), "[key]****e8f9")]
#[case::bytes_that_are_no_text(format!("{}\u{fffd}{}", &KEY[..14], &KEY[14..]), "[key]")]
#[case::wide(KEY.chars().flat_map(|c| [c, '\0']).collect::<String>(), "[key]\0")]
#[case::spaced(KEY.chars().flat_map(|c| [c, ' ']).collect::<String>(), "[key] ")]
#[case::zero_width(KEY.chars().flat_map(|c| [c, '\u{200b}']).collect::<String>(), "[key]\u{200b}")]
#[case::percent(format!("?k={}&x", percent(KEY)), "?k=[key]&x")]
#[case::percent_in_part(format!("?k={}", KEY.replace('-', "%2D")), "?k=[key]")]
#[case::percent_twice(percent(KEY).replace('%', "%25"), "[key]")]
#[case::json(KEY.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect::<String>(), "[key]")]
#[case::json_in_json(KEY.chars().map(|c| format!("\\\\u{:04x}", u32::from(c))).collect::<String>(), "[key]")]
#[case::html(KEY.chars().map(|c| format!("&#{};", u32::from(c))).collect::<String>(), "[key]")]
#[case::html_in_hexadecimal(KEY.chars().map(|c| format!("&#x{:x};", u32::from(c))).collect::<String>(), "[key]")]
#[case::hexadecimal(format!("0x{}.", KEY.bytes().map(|b| format!("{b:02x}")).collect::<String>()), "[key].")]
#[case::nothing("sk-or is no key, nor is 0a1b2c3".into(), "sk-or is no key, nor is 0a1b2c3")]
fn a_reason_has_no_piece_of_the_key(#[case] text: String, #[case] expected: &str) {
    let reason = redaction().reason(&text);
    // A digit before what is encoded may go with it.
    assert_eq!(reason.replace("0[key]", "[key]").replace("0x[key]", "[key]"), expected);
}

/// Encodes a text in Base64 without padding.
fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: String = text.bytes().map(|byte| format!("{byte:08b}")).collect();
    let digit = |bits: &[u8]| {
        let bits = format!("{:0<6}", std::str::from_utf8(bits).unwrap());
        char::from(DIGITS[usize::from_str_radix(&bits, 2).unwrap()])
    };
    bits.as_bytes().chunks(6).map(digit).collect()
}

#[rstest]
fn base64_of_the_key_is_found_wherever_it_begins(
    #[values("", "u", "us", "user:", "Bearer ")] before: &str,
    #[values("", "x", "xy", "xyz")] prefix: &str,
) {
    assert_eq!(redaction().reason(&format!("got {prefix}{}== .", base64(&format!("{before}{KEY}")))), "got [key]== .");
}

#[test]
fn an_answer_keeps_its_words_and_loses_the_key() {
    let redaction = redaction();
    assert_eq!(redaction.answer(format!("use {KEY}, not sk-or-v1-…")), "use [key], not sk-or-v1-…");
    assert_eq!(redaction.answer(format!("{}…", &KEY[..16])), "[key]…");
    // A key for form's sake is a word of the answer.
    let word = Redaction::of(Some("ollama".into()));
    assert_eq!(word.answer("ask ollama".into()), "ask ollama");
    assert_eq!(word.reason("no key ollama"), "no key [key]");
    assert_eq!(Redaction::of(None).reason("no key"), "no key");
}

proptest! {
    /// No text panics, and what is shown has no piece of the key.
    #[test]
    fn no_text_brings_a_piece_through(parts in prop::collection::vec(
        prop_oneof![
            "\\PC{0,6}",
            "[%\\\\&#;ux0-9a-f-]{0,12}",
            (0..KEY.len() - 8, 1..20usize).prop_map(|(at, n)| KEY[at..(at + n).min(KEY.len())].to_owned()),
            (0..KEY.len() - 8).prop_map(|at| percent(&KEY[at..])),
        ],
        0..12,
    )) {
        let text = parts.concat();
        let reason = redaction().reason(&text);
        prop_assert!(Pieces::of(KEY, 8).found(units(&reason)).is_empty(), "{reason}");
        let _ = redaction().answer(text);
    }
}
