//! Clauses whose verb nobody knows, as in other languages. What is their subject and what is their value is told by the
//! order of their words alone: two of them tell different things where they differ at two places (`Julie est
//! responsable des paiements`, `Marc est responsable des livraisons`), in their subject or in their verb.

use super::token::Token;
use super::{east_asian, lexicon, values, verb};

/// Articles of German, French, Spanish, Italian, Portuguese and Dutch. Some begin no English clause, and some do.
const ARTICLES: &str = "der die das den dem des ein eine einen einem einer le la les un une el los las lo una unas unos il \
    gli i uno o a os as um uma uns umas de het een";
/// Articles, prepositions and the like of these languages that are no English words.
const FOREIGN: &str = "der das den dem des ein eine einen einem einer für mit auf bei beim von vom zum zur nicht und wir \
    unsere unser unseren im am um nach aus über unter le la les l un une du de au aux avec chez dans sur par nous notre \
    nos et à el los las lo una unas unos del al con por para se están en y nuestro nuestra il gli uno della dello dei \
    degli delle nel nella dal dalla dai di da si e ed alla alle allo ai che nostra nostro pour um uma uns umas dos das na nas \
    em com não ao aos às pelo pela nosso nossa het een van voor met op bij niet wij ons onze uit naar";
/// Forms of `to be` in these languages, and the words for it in Japanese and Chinese.
const IS: &str = "ist sind wird werden est sont es son está è sono é são です であります である";
/// Words of these languages that are English words too, but begin no English clause.
const FIRST: &str = "die per i o os";
/// Words that only an English clause has.
const ENGLISH: &str = "the our are were to for and it you they this that with from by";
/// Words that an English clause has, and others as well: the French pronoun `on`, the Dutch `we` and `is`.
const MAYBE_ENGLISH: &str = "we is was of at on";
/// Particles between a subject and its verb.
const PARTICLES: &str = "se si ne sich zich";
/// Words that only a Portuguese clause has.
const PORTUGUESE: &str = "é em não ao aos um uma pelo pela dos às";
/// Prepositions that are one with an article, and what they are without it.
const MERGED: &[(&str, &str)] = &[
    ("del du della dello dei degli delle do dos da das des", "de"),
    ("al au aux alla alle allo ai ao aos à às", "a"),
    ("nel nella na nas em in im", "en"),
    ("dal dalla dai", "da"),
];
/// Number words of these languages.
const NUMBERS: &str = "dos tres cuatro cinco seis siete ocho nueve diez doce veinte treinta cuarenta cincuenta cien medio \
    media deux trois quatre cinq six sept huit neuf dix douze vingt trente quarante cinquante cent demi due tre quattro \
    cinque sei sette otto nove dieci dodici venti trenta quaranta cento mezzo mezza dois duas três quatro sete oito dez \
    vinte trinta quarenta cem zwei drei vier fünf sechs sieben acht neun zehn zwölf zwanzig dreißig hundert twee drie vijf \
    zes zeven negen tien twaalf twintig";
/// The shortest beginning that two forms of a word share, in signs.
const STEM_SIGNS: usize = 4;
/// The longest ending that tells two forms of a word apart, in signs.
const ENDING_SIGNS: usize = 2;
/// The least number of words of a sentence. Fewer may be a name alone.
const SENTENCE_WORDS: usize = 4;

/// A word that carries meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
struct UnreadWord {
    lower: String,
    /// True for a name, a number, a date and the like.
    is_value: bool,
    /// True where no article and no preposition stands before it, as before a verb.
    is_bare: bool,
    /// The preposition before it, without its article. It is empty for none.
    opening: String,
}

/// A clause whose verb is not known: its words that carry meaning, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnreadClause {
    words: Vec<UnreadWord>,
    /// True where the clause is of another language than English, as far as its small words tell.
    is_foreign: bool,
    /// True where the first word is a noun with an article before it.
    begins_with_subject: bool,
    /// True for Japanese and Chinese.
    is_east_asian: bool,
}

impl UnreadClause {
    /// Tells whether it is of another language than English.
    pub(super) fn is_foreign(&self) -> bool {
        self.is_foreign
    }
}

/// Returns the words of a Portuguese clause with the preposition `no` (in the) in a spelling that denies nothing. None
/// where there is none.
pub(super) fn without_false_denial(tokens: &[Token]) -> Option<Vec<Token>> {
    let is_in = |token: &Token, list: &str| lexicon::in_list(list, &token.lower);
    let is_portuguese = || {
        tokens.first().is_some_and(|first| is_in(first, "o os")) || tokens.iter().any(|token| is_in(token, PORTUGUESE))
    };
    // In other languages a verb stands behind the denial, or a pause before it.
    let is_before_name = |at: usize| {
        let next = tokens.get(at + 1).is_some_and(|next| next.is_name);
        next && !tokens[at - 1].pauses && !verb::is_known(tokens)
    };
    let is_preposition = |at: usize| at > 0 && is_in(&tokens[at], "no nos") && (is_before_name(at) || is_portuguese());
    let places: Vec<usize> = (0..tokens.len()).filter(|at| is_preposition(*at)).collect();
    let spelled = |(at, token): (usize, &Token)| match places.contains(&at) {
        true => Token { lower: "em".to_owned(), ..token.clone() },
        false => token.clone(),
    };
    (!places.is_empty()).then(|| tokens.iter().enumerate().map(spelled).collect())
}

/// Reads a clause. None where its verb is known.
pub(super) fn read(tokens: &[Token]) -> Option<UnreadClause> {
    let is_in = |token: &Token, list: &str| lexicon::in_list(list, &token.lower);
    let is_foreign = |token: &&Token| is_in(token, FOREIGN) || is_in(token, IS);
    let first = tokens.first()?;
    let begins_foreign = is_foreign(&first) || is_in(first, FIRST);
    let foreign = tokens.iter().filter(is_foreign).count();
    let has = |list: &str| tokens.iter().any(|token| is_in(token, list));
    let is_marked = tokens.iter().any(|token| token.separates);
    let is_english = is_marked || has(ENGLISH) || (has(MAYBE_ENGLISH) && foreign == 0 && !begins_foreign);
    if is_english || (verb::is_known(tokens) && !begins_foreign && foreign < 2) {
        return None;
    }
    let words = words(tokens);
    let is_sentence = words.len() + 1 >= SENTENCE_WORDS && verb::main(tokens).is_none();
    let has_letters = tokens.iter().any(|token| token.lower.chars().any(|c| c.is_alphabetic() && !c.is_ascii()));
    // The short article is taken from `L'équipe`, so that the first word has no capital.
    let has_article = (is_in(first, ARTICLES) && tokens.len() > 1) || first.text.starts_with(char::is_lowercase);
    let is_east_asian = first.lower.chars().any(east_asian::is_sign);
    Some(UnreadClause {
        words,
        is_east_asian,
        is_foreign: begins_foreign || foreign > 0 || has_letters || is_sentence,
        begins_with_subject: has_article || is_east_asian,
    })
}

/// Tells whether a word carries no meaning of its own.
fn is_small(token: &Token) -> bool {
    let is_in = |list: &str| lexicon::in_list(list, &token.lower);
    let is_foreign = (is_in(FOREIGN) && !is_in(IS)) || is_in(FIRST);
    !token.is_name && (is_foreign || lexicon::is_filler(&token.lower) || lexicon::is_preposition(&token.lower))
}

fn words(tokens: &[Token]) -> Vec<UnreadWord> {
    let (mut words, mut between) = (Vec::new(), Vec::<&str>::new());
    for (at, token) in tokens.iter().enumerate() {
        if is_small(token) {
            between.push(&token.lower);
            continue;
        }
        let is_value = token.is_name
            || lexicon::in_list(NUMBERS, &token.lower)
            || token.lower.starts_with(|c: char| c.is_ascii_digit())
            || values::typed(tokens, at).is_some();
        let is_article = |word: &str| lexicon::in_list(ARTICLES, word) && word != "de";
        let preposition = between.iter().rev().find(|word| !is_article(word) && !is_particle(word));
        words.push(UnreadWord {
            lower: token.lower.clone(),
            is_value,
            is_bare: between.iter().all(|word| is_particle(word)),
            opening: preposition.map_or("", |word| unmerged(word)).to_owned(),
        });
        between.clear();
    }
    words
}

/// Tells whether a word may stand between a subject and its verb.
fn is_particle(word: &str) -> bool {
    let joins = lexicon::is_preposition(word) || lexicon::is_article(word);
    lexicon::in_list(PARTICLES, word) || (lexicon::is_filler(word) && !joins && !lexicon::in_list(ARTICLES, word))
}

/// Returns a preposition without the article that is one with it.
fn unmerged(word: &str) -> &str {
    MERGED.iter().find(|(merged, _)| lexicon::in_list(merged, word)).map_or(word, |(_, plain)| plain)
}

/// Tells whether two clauses tell different things: they differ at two places, share too little, or have another
/// subject or another verb.
pub(super) fn tell_of_other_things(a: &UnreadClause, b: &UnreadClause) -> bool {
    let (of_a, of_b) = (places(a, b), places(b, a));
    if of_a.len() > 1 && of_b.len() > 1 {
        return true;
    }
    let are_foreign = a.is_foreign && b.is_foreign;
    are_foreign
        && (share_too_little(a, b) || has_other_subject(a, b) || has_other_subject(b, a) || {
            let places = of_a.first().zip(of_b.first());
            places.is_some_and(|(of_a, of_b)| {
                has_other_verb(a, b, of_a, of_b)
                    || is_otherwise(a, b, of_a, of_b)
                    || names_another(a, of_a)
                    || names_another(b, of_b)
            })
        })
}

/// Returns the places of the words that the other clause does not have, each with its end.
fn places(own: &UnreadClause, other: &UnreadClause) -> Vec<(usize, usize)> {
    let mut places = Vec::<(usize, usize)>::new();
    for (at, _) in own.words.iter().enumerate().filter(|(_, word)| !says(other, word)) {
        match places.last_mut().filter(|(_, to)| *to == at) {
            Some((_, to)) => *to += 1,
            None => places.push((at, at + 1)),
        }
    }
    places
}

fn says(clause: &UnreadClause, word: &UnreadWord) -> bool {
    clause.words.iter().any(|known| is_form_of(&word.lower, &known.lower))
}

/// Tells whether two clauses share no word, or a single one among several that only one of them has.
fn share_too_little(a: &UnreadClause, b: &UnreadClause) -> bool {
    let shared = a.words.iter().filter(|word| !lexicon::in_list(IS, &word.lower) && says(b, word)).count();
    let plain = |own: &UnreadClause, other: &UnreadClause| {
        own.words.iter().filter(|word| !word.is_value && !says(other, word)).count()
    };
    let (of_a, of_b) = (plain(a, b), plain(b, a));
    shared == 0 || (shared == 1 && of_a.min(of_b) > 0 && of_a.max(of_b) > 1)
}

/// Tells whether a clause begins with a noun of which the other one says nothing.
fn has_other_subject(own: &UnreadClause, other: &UnreadClause) -> bool {
    own.begins_with_subject && own.words.first().is_some_and(|subject| !says(other, subject))
}

/// Tells whether the words that differ begin with two verbs. A verb stands behind its subject, with no article and no
/// preposition before it and an object or the like behind it.
fn has_other_verb(a: &UnreadClause, b: &UnreadClause, of_a: &(usize, usize), of_b: &(usize, usize)) -> bool {
    let may_be_verb = |clause: &UnreadClause, place: &(usize, usize)| {
        let word = &clause.words[place.0];
        place.0 > 0 && word.is_bare && !word.is_value && place.0 + 1 < clause.words.len()
    };
    may_be_verb(a, of_a) && may_be_verb(b, of_b)
}

/// Tells whether both say what their subject is, behind prepositions that answer other questions: `es de Pedro`, `es
/// rojo`.
fn is_otherwise(a: &UnreadClause, b: &UnreadClause, of_a: &(usize, usize), of_b: &(usize, usize)) -> bool {
    let is_joined = |clause: &UnreadClause, place: &(usize, usize)| {
        place.0.checked_sub(1).is_some_and(|before| lexicon::in_list(IS, &clause.words[before].lower))
    };
    is_joined(a, of_a) && is_joined(b, of_b) && a.words[of_a.0].opening != b.words[of_b.0].opening
}

/// Tells whether a Japanese or Chinese clause differs in a word that tells which thing is meant: `フェーズ1は`.
fn names_another(clause: &UnreadClause, place: &(usize, usize)) -> bool {
    let joins = |before: usize| east_asian::joins(&clause.words[before].lower);
    let happened = clause.words.iter().any(|word| east_asian::is_past(&word.lower));
    clause.is_east_asian && (happened || !place.0.checked_sub(1).is_some_and(joins))
}

/// Tells whether both are forms of one word: `encargado`, `encargada`.
fn is_form_of(a: &str, b: &str) -> bool {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b && a.is_alphabetic()).count();
    let longer = a.chars().count().max(b.chars().count());
    let is_inflected = !a.chars().any(east_asian::is_sign);
    a == b || (is_inflected && common >= STEM_SIGNS && longer - common <= ENDING_SIGNS)
}
