use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// Each is a text that a reader needs as it is.
const NEEDED: [&str; 21] = [
    "plain text,\n\twith a tab and a line end of another system\r\nand an é",
    "👨‍👩‍👧‍👦 a family, 👩🏽‍💻 with a skin, 🏳️‍🌈 ❤️‍🔥 🧑‍🚀",
    "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} England, 🇩🇪, 🏴‍☠️",
    "👍🏿 1️⃣ #️⃣ ☎️ ☎︎ ©️ ↔️",
    "می‌خواهم کتاب‌ها را بخوانم",
    "क्‍ष and क्‌ष, र्‍य",
    "ക്‍ and ශ්‍රී",
    "ภาษาไทยไม่มีช่องว่าง",
    "שָׁלוֹם עֲלֵיכֶם",
    "הִ\u{34f}ם",
    "שלום\u{200e}C++",
    "السلام\u{200f}!",
    "កម្ពុជា ជា",
    "ᠮᠣᠩᠭᠣᠯ\u{180e}ᠠ",
    "⠓⠑⠇⠇⠕⠀⠺⠕⠗⠇⠙",
    "中文，標點：ｆｕｌｌ\u{3000}width\u{a0}spaces\u{202f}!",
    "한국어 조합 가",
    "é as e\u{301}, ñ as n\u{303}, Z͑ͫ",
    "∑ ≠ ∞ ∩ → ⇒ ½",
    "\u{e0b0} an icon of a terminal's font",
    "\u{fffd} is what was no UTF-8",
];

/// Each has characters that carry nothing, and is to become the text beside it.
const DROPPED: [(&str, &str); 34] = [
    ("pass\u{200b}word", "password"),
    ("pass\u{200c}word", "password"),
    ("pass\u{200d}word", "password"),
    ("pass\u{2060}word", "password"),
    ("\u{feff}begin\u{feff}", "begin"),
    ("soft\u{ad}hyphen", "softhyphen"),
    ("safe \u{202e}evil\u{202c}", "safe evil"),
    ("\u{2066}a\u{2069}\u{2067}b\u{2069}\u{2068}c\u{2069}", "abc"),
    ("\u{202a}a\u{202b}b\u{202d}c", "abc"),
    ("a\u{200e}b\u{200f}c\u{61c}d", "abcd"),
    ("hi\u{e0001}\u{e0068}\u{e0069}\u{e007f}", "hi"),
    ("🏴\u{e0068}\u{e0069}\u{e0068}\u{e0069}\u{e0068}\u{e007f}", "🏴"),
    ("🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}", "🏴"),
    ("😀\u{fe0f}\u{fe0f}\u{e0101}\u{e0142}\u{fe01}", "😀\u{fe0f}"),
    ("a\u{fe0f}b\u{fe0e}", "ab"),
    ("葛\u{e0100}城", "葛城"),
    ("x\u{2061}(\u{2063}y\u{2064})", "x(y)"),
    ("\u{3164}a\u{115f}\u{1160}b\u{ffa0}", "ab"),
    ("a\u{17b4}\u{17b5}b", "ab"),
    ("a\u{206a}\u{206f}b", "ab"),
    ("a\u{fff9}b\u{fffa}c\u{fffb}d\u{fffc}", "abcd"),
    ("a\u{fdd0}b\u{ffff}c\u{1fffe}", "abc"),
    ("bell\u{7} back\u{8} nul\u{0} del\u{7f} esc\u{1b}", "bell back nul del esc"),
    ("c1 \u{80}\u{84}\u{9f}\u{90}end", "c1 end"),
    ("\u{1b}[31mred\u{1b}[0m \u{1b}[2K\u{1b}[?25l\u{1b}[38;5;12mblue\u{1b}[m", "red blue"),
    ("\u{9b}31mred\u{9b}0m", "red"),
    ("\u{1b}]0;title\u{7}text", "text"),
    ("\u{1b}]8;;https://example.org\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
    ("\u{1b}(Bplain", "plain"),
    ("10%\r20%\r\n", "10%\n20%\r\n"),
    ("one\u{2028}two\u{2029}three\u{85}four", "one\ntwo\nthree\nfour"),
    ("a\u{1d173}b\u{1bca0}c", "abc"),
    ("ab\u{2800}cd\u{34f}ef\u{180e}gh\u{2d7f}", "abcdefgh"),
    ("می\u{200c}\u{200c}\u{200d}\u{200b}خواهم", "می\u{200c}خواهم"),
];

#[test]
fn what_a_reader_needs_stays() {
    for text in NEEDED {
        assert_eq!(drop_invisible(text), VisibleText { text: Cow::Borrowed(text), dropped: 0 });
        assert!(matches!(drop_invisible(text).text, Cow::Borrowed(_)), "{text:?}");
        assert_eq!(escaped_for_people(text), text);
        assert_eq!(escaped_in_json(text), text);
    }
}

#[test]
fn what_carries_nothing_is_dropped() {
    for (text, expected) in DROPPED {
        let visible = drop_invisible(text);
        assert_eq!(visible.text, expected, "{text:?}");
        assert!(visible.dropped > 0, "{text:?}");
        assert_eq!(drop_invisible(expected).dropped, 0, "{expected:?}");
    }
}

#[test]
fn every_dropped_character_is_counted() {
    assert_eq!(drop_invisible("a\u{200b}b\u{202e}c").dropped, 2);
    assert_eq!(drop_invisible("\u{1b}[31mred").dropped, 5);
    assert_eq!(drop_invisible("one\rtwo").dropped, 1);
}

#[test]
fn a_sequence_that_no_terminal_has_hides_no_letter() {
    assert_eq!(drop_invisible("\u{1b}ghp_abc").text, "ghp_abc");
    assert_eq!(drop_invisible("\u{1b}[ghp_abc").text, "[ghp_abc");
    assert_eq!(drop_invisible("\u{1b}]never closed\nnext").text, "]never closed\nnext");
    let long = "x".repeat(5_000);
    assert_eq!(drop_invisible(&format!("\u{1b}]{long}\u{7}")).text, format!("]{long}"));
}

#[test]
fn what_is_shown_to_people_has_no_invisible_character() {
    let shown = escaped_for_people("a\u{200b}b \u{1b}[31mred \u{9b}0m\u{202e} x\ry");
    assert_eq!(shown, "a\\u{200b}b \\u{1b}[31mred \\u{9b}0m\\u{202e} x\\u{d}y");
}

#[test]
fn a_json_document_stays_the_same_document() {
    let value =
        serde_json::json!({"a\u{200b}": ["\u{9b}31m", "\u{7f}\u{e0041} \u{202e}", "👩🏽‍💻", "line\r\nend\u{2028}"]});
    let document = value.to_string();
    let escaped = escaped_in_json(&document);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    assert!(escaped.contains("\\u009b31m") && escaped.contains("\\udb40\\udc41"), "{escaped}");
    assert_eq!(drop_invisible(&escaped).dropped, 0, "{escaped}");
}

/// The time is generous, for unoptimised code on a busy machine. Quadratic code would take an hour.
const TIMEOUT: Duration = Duration::from_secs(60);

#[test]
fn a_megabyte_of_anything_takes_time_in_proportion() {
    let long = format!("\u{1b}]{}", "x".repeat(4_000));
    let units = [
        "\u{200b}",
        "\u{200d}",
        "\u{200e}\u{200b}",
        "\r",
        "\u{1b}",
        "\u{1b}[",
        "\u{1b}]",
        "\u{1b}[31m",
        "🏴\u{e0067}",
        &long,
    ];
    for unit in units {
        let text = unit.repeat(1_000_000 / unit.len());
        let started = Instant::now();
        let once = drop_invisible(&text);
        assert!(started.elapsed() < TIMEOUT, "{unit:?} took {:?}", started.elapsed());
        assert_eq!(drop_invisible(&once.text).dropped, 0, "{unit:?}");
    }
}

fn piece() -> impl Strategy<Value = String> {
    let needed: Vec<String> = NEEDED.iter().map(|text| (*text).to_owned()).collect();
    let dropped: Vec<String> = DROPPED.iter().map(|(text, _)| (*text).to_owned()).collect();
    let single = [
        "\u{200b}",
        "\u{200c}",
        "\u{200d}",
        "\u{200e}",
        "\u{200f}",
        "\u{61c}",
        "\u{fe0e}",
        "\u{fe0f}",
        "\u{1b}",
        "[",
        "31",
        "m",
        "\r",
        "\n",
        "\u{34f}",
        "\u{180b}",
        "\u{2800}",
        "\u{13431}",
        "\u{e0067}",
        "\u{e007f}",
        "🏴",
        "😀",
        "1",
        "\u{20e3}",
        "ی",
        "ש",
        "क",
        "\u{85}",
        "\u{9b}",
        "]",
        "\u{7}",
        "\\",
        "🏽",
    ];
    prop_oneof![
        1 => prop::sample::select(needed),
        1 => prop::sample::select(dropped),
        6 => prop::sample::select(single.map(str::to_owned).to_vec()),
        1 => "\\PC{0,4}",
        1 => any::<char>().prop_map(String::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_024))]

    #[test]
    fn dropping_again_drops_nothing(pieces in prop::collection::vec(piece(), 0..16)) {
        let text = pieces.concat();
        let once = drop_invisible(&text);
        prop_assert!(once.dropped > 0 || once.text == text);
        prop_assert_eq!(drop_invisible(&once.text), VisibleText { text: Cow::Borrowed(&*once.text), dropped: 0 });
    }

    #[test]
    fn what_is_escaped_has_nothing_to_escape(pieces in prop::collection::vec(piece(), 0..16)) {
        let text = pieces.concat();
        let shown = escaped_for_people(&text);
        prop_assert_eq!(escaped_for_people(&shown), &*shown);
        let document = serde_json::to_string(&text).unwrap();
        prop_assert_eq!(serde_json::from_str::<String>(&escaped_in_json(&document)).unwrap(), text);
    }

    #[test]
    fn ordinary_text_is_not_copied(text in "[ -~\n\tà-ÿа-яα-ω一-龥あ-んก-๙가-힣]{0,60}") {
        prop_assert!(matches!(drop_invisible(&text).text, Cow::Borrowed(_)));
    }
}
