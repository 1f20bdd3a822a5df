use rstest::rstest;
use tokenizers::Tokenizer;
use tokenizers::models::unigram::Unigram;
use tokenizers::pre_tokenizers::metaspace::Metaspace;

use super::*;

const WINDOW: usize = 256;

fn tokenizer() -> Tokenizer {
    super::tokenizer(include_bytes!("../../../assets/all-MiniLM-L6-v2-int8/tokenizer.json")).unwrap()
}

/// A SentencePiece tokenizer: each of these signs is a token, and a word goes from one space to the next.
fn sentence_piece() -> Tokenizer {
    let vocabulary = ["<unk>", "▁", "検", "索", "上", "限"].map(|token| (token.to_owned(), -1.0)).to_vec();
    let mut tokenizer = Tokenizer::new(Unigram::from(vocabulary, Some(0), false).unwrap());
    tokenizer.with_pre_tokenizer(Some(Metaspace::default()));
    tokenizer
}

fn without_white_space(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Makes a text of words of 1 to 130 letters from several scripts, and white space and punctuation between them.
fn random_text(seed: u64, words: usize) -> String {
    const ALPHABETS: [&str; 6] = ["abcdefg", "éüñçàß", "файлошибка", "検索上限排他", "🚀✅👩‍💻é", "0123456789_-"];
    const GAPS: [&str; 8] = [" ", "  ", "\n", "\n\n    ", ". ", ", ", "::", "\t"];
    let mut state = seed;
    let mut next = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let mut text = String::new();
    for _ in 0..words {
        let alphabet: Vec<char> = ALPHABETS[next(ALPHABETS.len())].chars().collect();
        let letters = 1 + if next(20) == 0 { next(130) } else { next(12) };
        (0..letters).for_each(|_| text.push(alphabet[next(alphabet.len())]));
        text.push_str(GAPS[next(GAPS.len())]);
    }
    text
}

#[rstest]
#[case::one_word("retry")]
#[case::surrounded("  \n retry with backoff \n ")]
#[case::prose("The file was closed before it was renamed. Nobody noticed. ".repeat(300))]
#[case::code("    let midpoint = low + (high - low) / 2; // no overflow\n".repeat(300))]
#[case::deeply_indented(format!("{}deep\n", " ".repeat(500)).repeat(40))]
#[case::punctuation(".".repeat(20_000))]
#[case::chinese_without_spaces("検索上限排他的".repeat(3_000))]
#[case::emoji("🚀✅👩‍💻".repeat(5_000))]
#[case::a_megabyte_without_spaces("x".repeat(1 << 20))]
#[case::a_megabyte_of_spaces(format!("a{}b", " ".repeat(1 << 20)))]
#[case::accents_apart("e\u{301}".repeat(10_000))]
#[case::invisible("\u{200b}".repeat(10_000))]
#[case::special_tokens("[SEP] [CLS][PAD]".repeat(2_000))]
#[case::control_characters("a\u{0}b\u{7f} ".repeat(5_000))]
#[case::random_1(random_text(1, 4_000))]
#[case::random_2(random_text(2, 4_000))]
#[case::random_3(random_text(3, 4_000))]
fn pieces_fit_the_window_and_nothing_is_lost(#[case] text: impl AsRef<str>) {
    let (tokenizer, text) = (tokenizer(), text.as_ref());
    let pieces = cut(&tokenizer, text, WINDOW).unwrap();
    let mut together = String::new();
    let mut end = 0;
    for piece in &pieces {
        let piece_text = &text[piece.range.clone()];
        let tokens = tokenizer.encode(piece_text, true).unwrap().len();
        assert!(tokens <= WINDOW, "{tokens} tokens in {piece_text:?}");
        assert_eq!(tokens, piece.tokens + 2, "the count given for {piece_text:?}");
        assert!(piece_text.len() <= PIECE_BYTES);
        assert_eq!(piece_text, piece_text.trim());
        assert!(!piece_text.is_empty() && piece.range.start >= end);
        end = piece.range.end;
        together.push_str(piece_text);
    }
    assert_eq!(without_white_space(&together), without_white_space(text));
}

#[rstest]
#[case("")]
#[case(" \t\n \u{a0} ")]
#[case(" ".repeat(100_000))]
fn a_blank_text_has_no_pieces(#[case] text: impl AsRef<str>) {
    assert_eq!(cut(&tokenizer(), text.as_ref(), WINDOW).unwrap(), []);
}

#[test]
fn a_text_that_fits_is_one_piece() {
    let text = " Use an exclusive upper bound. ";
    assert_eq!(cut(&tokenizer(), text, WINDOW).unwrap(), [TextPiece { range: 1..30, tokens: 6 }]);
}

#[rstest]
#[case::lines("check the bound; then halve the range and look again\n", "again")]
#[case::sentences("Check the bound, then halve the range and look again. ", "again.")]
#[case::words("check the bound then halve the range ", "")]
fn cuts_are_where_a_reader_would_cut(#[case] unit: &str, #[case] end: &str) {
    let text = unit.repeat(120);
    let pieces = cut(&tokenizer(), &text, WINDOW).unwrap();
    assert!(pieces.len() > 3);
    for piece in &pieces {
        assert!(text[piece.range.clone()].ends_with(end));
        assert!(text[piece.range.end..].starts_with([' ', '\n']));
    }
}

#[rstest]
#[case::one_word("検索上限".repeat(3_000))]
#[case::behind_a_short_one(format!("検索 {}", "上限".repeat(3_000)))]
fn a_word_that_does_not_fit_is_cut_between_its_tokens(#[case] text: String) {
    let tokenizer = sentence_piece();
    let pieces = cut(&tokenizer, &text, WINDOW).unwrap();
    let piece_texts: Vec<&str> = pieces.iter().map(|piece| &text[piece.range.clone()]).collect();
    for (piece, piece_text) in pieces.iter().zip(&piece_texts) {
        assert_eq!(tokenizer.encode(*piece_text, true).unwrap().len(), piece.tokens, "{piece_text:?}");
        assert!(piece.tokens <= WINDOW, "{} tokens in {piece_text:?}", piece.tokens);
    }
    assert_eq!(piece_texts.concat(), without_white_space(&text));
}

#[test]
fn no_word_is_cut_that_fits_a_piece() {
    let word = "y".repeat(90);
    let text = format!("{word} ").repeat(200);
    for piece in cut(&tokenizer(), &text, WINDOW).unwrap() {
        assert!(text[piece.range].split(' ').all(|found| found == word));
    }
}
