//! Clauses that tell one of several: `the parser supports YAML` says nothing of what else it supports. They are read by
//! the words beside each other, in English, German, French, Spanish, Italian, Portuguese and Dutch, whose verbs are not
//! all known.

use super::lexicon::{self, in_list};
use super::token::Token;

/// Verbs with an ending, or of another language than English, whose object is one of several.
const VERBS: &str = "supports accepts contains includes offers understands recognises recognizes displays shows parses exports \
    mentors coaches tutors notifies logs sells mentions \
    unterstützt unterstützen zeigt zeigen enthält enthalten akzeptiert akzeptieren bietet bieten versteht verstehen meldet \
    protokolliert benachrichtigt beinhaltet umfasst spricht sprechen exportiert verkaufen \
    supporte supportent affiche affichent contient contiennent accepte acceptent propose proposent inclut incluent comprend \
    montre montrent vend vendent exporte notifie parle parlent \
    soporta soportan admite admiten muestra muestran contiene contienen acepta aceptan ofrece ofrecen incluye incluyen pide \
    piden vende venden exporta notifica registra habla hablan \
    supporta supportano mostra mostrano contengono accetta accettano offre offrono include includono chiede chiedono vendono \
    esporta parla parlano visualizza \
    suporta suportam exibe contém aceita oferece inclui pede fala falam \
    ondersteunt ondersteunen toont tonen bevat bevatten accepteert biedt bieden spreekt spreken exporteert verkoopt";
/// English verbs without an ending, which are nouns as well.
const BARE_VERBS: &str =
    "support accept contain include offer understand display show parse export mentor coach notify log sell";
/// Words, each with those behind which one of several stands.
const WITH: &[(&str, &str)] = &[
    ("available", "in for on as to at"),
    ("sold", "in at by on"),
    ("exported", "as to"),
    ("posted post posts", "to"),
    ("ask asks asked prompt prompts prompted", "for"),
    ("speak speaks spoke", "at"),
    ("deploy deploys", "to"),
    ("find finds found detected detects", "a an"),
    ("has have", "a an"),
    ("verfügbar erhältlich", "für in auf als"),
    ("verkauft", "in"),
    ("fragt fragen", "nach"),
    ("fand findet", "eine einen ein"),
    ("hat haben", "eine einen ein"),
    ("disponible disponibles", "pour en sur para à"),
    ("demande demandent", "un une"),
    ("prend prennent", "en"),
    ("trouvé", "une un"),
    ("vendu vendus vendue vendues", "à en"),
    ("tiene tienen encontró", "una un"),
    ("disponibile disponibili", "per in su"),
    ("ha hanno trovato", "una un"),
    ("disponível disponíveis", "para em"),
    ("tem têm", "uma um"),
    ("beschikbaar", "voor in op"),
    ("vraagt vragen", "om naar"),
    ("heeft hebben", "een"),
];
/// Words of an absence, which comes again: `on vacation in August`.
const ABSENCES: &[(&str, &str)] = &[
    ("on", "vacation holiday leave"),
    ("im", "urlaub"),
    ("en", "vacances congé"),
    ("de", "vacaciones"),
    ("in", "ferie vacanza"),
    ("met op", "vakantie"),
    ("de", "férias"),
];

/// Tells whether a clause tells one of several things.
pub(super) fn tells_one(tokens: &[Token]) -> bool {
    let is_copula = |token: &Token| matches!(&*token.lower, "is" | "are" | "was" | "were");
    (1..tokens.len().saturating_sub(1)).any(|at| {
        let (before, word, next) = (&tokens[at - 1], &tokens[at], &tokens[at + 1]);
        let follows_plural = before.lower.ends_with('s') && !before.lower.ends_with("ss") && !before.is_name;
        let is_noun = lexicon::is_determiner(&before.lower)
            || (lexicon::is_preposition(&before.lower) && before.lower != "to")
            || is_copula(next);
        let is_spoken = lexicon::is_plain_pronoun(&before.lower)
            || matches!(&*before.lower, "can" | "may" | "must" | "should" | "to" | "also" | "now")
            || follows_plural;
        let is_verb = in_list(VERBS, &word.lower) || (in_list(BARE_VERBS, &word.lower) && is_spoken);
        (is_verb && !word.is_name && !is_noun) || is_pair(WITH, word, next)
    })
}

/// Tells whether a clause tells when somebody is absent.
pub(super) fn tells_an_absence(tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| is_pair(ABSENCES, &pair[0], &pair[1]))
}

fn is_pair(pairs: &[(&str, &str)], first: &Token, second: &Token) -> bool {
    pairs.iter().any(|(words, behind)| in_list(words, &first.lower) && in_list(behind, &second.lower))
}
