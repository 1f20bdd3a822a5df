//! Secrets that only their name gives away: `password = "…"`, `API_KEY=…`, `"token": "…"`, `--password …`,
//! `the password is …`, a value on the next line, beside the name in a table, or in the call that sets it.

use std::ops::Range;
use std::sync::LazyLock;

use super::lazy_pattern::LazyPattern;
use super::password_words;
use super::value::{AssignedValue, ValueContext};

/// A pattern of the names that secrets have. `<WORDS>` stands for the words for a password in other languages. The two
/// beside it mean something else, too, or stand in other words.
macro_rules! name {
    () => {
        concat!(
            r"(?:pass(?:word|wd|phrase|code)|(?:\b|_)(?:pass|pw|psk|pswd|passwrd)|pwd|secret(?:[_-]?key(?:[_-]?base)?)?",
            r"|token|authorization|<WORDS>|senha|parola",
            "|(?:api|access|private|signing|encryption|master|account|shared|auth|service|license|subscription|functions",
            "|storage|client|consumer|session|app|application|hmac|cookie|deploy|webhook|pre[_-]?shared)",
            "[_ -]?(?:access[_-]?)?key(?:[_-]data)?",
            r"|_pat|credential|\bcred|(?:wi-?fi|wlan|wpa[23]?)[ _-]?key|(?:api|zugriffs)[ _-]?schlüssel",
            r"|(?:clé|clave|chiave|chave)[ ](?:d'|d’|d[aei][ ]|de[ ]la[ ])?(?:api|accès|acesso|acceso|accesso)|api[ -]sleutel",
            r")s?[0-9]{0,2}"
        )
    };
}

/// Every name has one of these in it, or one of the words for a password in other languages.
const NAMES: [&str; 16] = [
    "pass", "pw", "psk", "pswd", "secret", "token", "auth", "senha", "parola", "key", "_pat", "cred", "schl", "api",
    "acc", "aces",
];

/// A pattern of the words that say in prose what something is.
macro_rules! copula {
    () => {
        "(?:is|was|are|ist|war|lautete?|es|era|est|était|è|é|luidt|jest|brzmi|är|er|je|este|это)"
    };
}

/// A pattern of words that say since when something is so. They stand before or behind the word that says what it is.
macro_rules! since {
    () => {
        concat!(
            "(?:now|currently|still|again|just|also|jetzt|nun|derzeit|aktuell|weiterhin|maintenant|désormais|actuellement",
            "|toujours|ahora|actualmente|ora|adesso|attualmente|nu|momenteel|agora|atualmente)",
        )
    };
}

/// A pattern of words that say what something was changed to.
macro_rules! changed {
    () => {
        concat!(
            r"(?:(?:changed|set|reset|updated|rotated|switched)[ \t](?:to|as)",
            r"|(?:changée?|modifiée?|définie?|remplacée?)[ \t](?:en|à|par)",
            r"|(?:cambió|cambiado|cambiada|actualizó|actualizada)[ \t](?:a|por)",
            r"|(?:cambiata|modificata|impostata|aggiornata)[ \t](?:in|a|su|con)",
            r"|(?:gewijzigd|veranderd|ingesteld)[ \t](?:in|naar|op)",
            r"|(?:alterada|mudada|trocada|definida|redefinida)[ \t](?:para|como))",
        )
    };
}

/// A pattern of the words behind a name that say whose it is: `of the jump host`.
macro_rules! of_what {
    () => {
        concat!(
            r"(?:[ \t](?:for|of|on|to|für|von|vom|der|des|auf|de|del|do|da|dos|das|para|pour|du|di|del|della|per|van|voor|för",
            r"|til|для|от)(?:[ \t](?u:[^ \t\r\n:=])+){1,5})"
        )
    };
}

/// A pattern of the names of settings that hold a password and stand alone on their lines.
macro_rules! setting {
    () => {
        "requirepass|masterauth|bindpw|rootpw"
    };
}

/// A pattern of the private parameters of a JSON Web Key.
macro_rules! parameter {
    () => {
        r#""(?:d|p|q|dp|dq|qi|k)\\{0,3}""#
    };
}

/// A pattern of the signs that may stand behind a name: quotes, closing brackets, emphasis.
macro_rules! around {
    () => {
        r#"[\\"'\])*_`]{0,10}"#
    };
}

/// A pattern of the end of a line. In JSON within JSON, backslashes are left over before it.
macro_rules! line_end {
    () => {
        r"(?:\\{0,3}[\r\n]{1,2})"
    };
}

/// A pattern of words before a name to log in with and its password.
macro_rules! login {
    () => {
        "(?:log-?ins?|credentials?|creds?|zugangsdaten|anmeldung|identifiants|credenciales|credenziali|inloggegevens|credenciais)"
    };
}

/// Every such word has one of these in it.
const LOGINS: [&str; 7] = ["login", "log-in", "cred", "zugangsdaten", "anmeldung", "identifiants", "inlog"];

/// A form in which a name and its value are written, and what that form says about the value. The pattern reaches from
/// the name to the value. It stays within a line, or ends in the next one, so nothing in it can run over a whole text.
struct Form {
    before: ValueContext,
    /// The length of the shortest value that is a secret, in bytes.
    at_least: usize,
    /// Every text in this form has one of these in it, in capitals or not. Where there are none, it has a name alone.
    letters: &'static [&'static str],
    pattern: &'static str,
}

const ANY: ValueContext = ValueContext {
    bare: false,
    made_up: false,
    in_quotes: false,
    own_line: false,
    in_cell: false,
    strong: false,
    random: false,
};

const FORMS: [Form; 15] = [
    Form {
        before: ANY,
        at_least: 0,
        letters: &[],
        pattern: concat!(
            "(?i-u)(?:",
            name!(),
            "(?:",
            around!(),
            r"[ \t]{0,8}(?::=|=>|={1,3}|:)[*]{0,2}[ \t]{0,8}(?:!!?[a-z]{1,12}[ \t]{1,4})?(?:&[a-z0-9_-]{1,40}[ \t]{1,4})?",
            r#"|[\\"']{0,4}>(?:<!\[CDATA\[)?|[ \t]{1,4}value[ \t]{0,4}=[ \t]{0,4}"#,
            "|",
            of_what!(),
            r"?(?:[ \t]",
            since!(),
            r")?[ \t]{1,4}(?:(?:ha[sv]e?[ \t]been|got|a[ \t]été|ha[ \t]sido|se|è[ \t]stata|foi|werd|",
            copula!(),
            r")(?:[ \t]{1,4}",
            since!(),
            r"){0,2}(?:[ \t]{1,4}",
            changed!(),
            r")?|wurde[ \t](?:auf|zu|in)|",
            changed!(),
            r")[ \t:]{1,4}|(?:[ \t](?:for|of|on|to|für|von|vom|der|des|auf|de|del|do|da|dos|das|para|pour|du|di|della|per|van|voor)",
            r#"(?:[ \t](?u:[^ \t\r\n:="{}])+){1,5})[ \t]{0,2}(?:=|:[*]{0,2}[ \t])[ \t]{0,8}"#,
            r"|[ \t]{0,2}(?:は|が|是|为|為|는|은|가)[ \t:]{0,4})",
            r"|(?:^|(?u:[^a-z0-9]))--?[a-z0-9-]{0,40}?",
            name!(),
            r"[ \t]{1,4})",
        ),
    },
    // In these languages the word between is a word of English, too.
    Form {
        before: ANY,
        at_least: 0,
        letters: &["salasana", "has"],
        pattern: r"(?i-u)(?:has(?:ł|Ł)o|salasana)[ \t]{1,4}(?:to|on)[ \t:]{1,4}",
    },
    // A variable of the environment in a file for Docker: `ENV DB_PASS …`.
    Form {
        before: ValueContext { bare: true, ..ANY },
        at_least: 0,
        letters: &["env"],
        pattern: concat!(r"(?-u)\bENV[ \t]{1,4}[A-Za-z0-9_]{0,40}?(?i:", name!(), r")[ \t]{1,4}"),
    },
    // A command that sets the secret: `npm config set //host/:_authToken …`.
    Form {
        before: ANY,
        at_least: 0,
        letters: &["set", "config"],
        pattern: concat!(r"(?i-u)\b(?:set|config)[ \t]{1,4}[a-z0-9_.:/@-]{0,60}?", name!(), r"[ \t]{1,4}"),
    },
    // A type stands between the name and the value: `const TOKEN: &str = "…"`.
    Form {
        before: ANY,
        at_least: 0,
        letters: &[":"],
        pattern: concat!(
            "(?i-u)",
            name!(),
            r"[ \t]{0,8}:[ \t]{0,8}[&'a-z_][a-z0-9_<>&'. |\[\]]{0,40}?[ \t]{0,8}=[ \t]{0,8}",
        ),
    },
    // The value stands on the next line. It is indented, marked as a block by YAML, or below a heading.
    Form {
        before: ValueContext { own_line: true, ..ANY },
        at_least: 0,
        letters: &["\n", "\r"],
        pattern: concat!(
            "(?i-u)",
            name!(),
            around!(),
            r"(?:[ \t]{1,4}",
            copula!(),
            r")?[ \t]{0,8}[:=][ \t]{0,8}[*]{0,2}(?:[|>][+-]?[0-9]?)?\\{0,3}[ \t]{0,8}(?:#[ \t](?u:[^\r\n])*)?",
            line_end!(),
            r"[ \t]{0,40}(?:[-*>][ \t]{1,4})?",
        ),
    },
    // An element of XML whose text has a line of its own.
    Form {
        before: ValueContext { own_line: true, ..ANY },
        at_least: 0,
        letters: &[">"],
        pattern: concat!(r"(?i-u)<[a-z0-9_.:-]{0,40}?", name!(), r">\\{0,3}[ \t]{0,8}", line_end!(), r"[ \t]{0,40}"),
    },
    // A pair of fields. The second one is called a value: `name: DB_PASSWORD`, `value: …`;
    // `key="password" value="…"`.
    Form {
        before: ValueContext { bare: true, ..ANY },
        at_least: 0,
        letters: &["val"],
        pattern: concat!(
            "(?i-u)(?:name|key|type|id|field)",
            r#"[\\"']{0,8}[ \t]{0,4}[:=][ \t]{0,4}[\\"']{0,8}[a-z0-9_.:-]{0,40}?"#,
            name!(),
            r#"[\\"']{0,8},?(?:[ \t]|"#,
            line_end!(),
            r#"){1,40}[\\"']{0,8}(?:string)?(?:value|val)[\\"']{0,8}[ \t]{0,4}[:=][ \t]{0,4}"#,
        ),
    },
    // A call sets the secret: `define('DB_PASSWORD', '…')`.
    Form {
        before: ValueContext { in_quotes: true, ..ANY },
        at_least: 0,
        letters: &["("],
        pattern: concat!(
            r#"(?i-u)\b(?:define|set|put|add|append|header|env|with|insert|store|export)[a-z_]{0,24}[ \t]{0,2}\("#,
            r#"[ \t]{0,4}[\\"']{1,8}[a-z0-9_.:-]{0,40}?"#,
            name!(),
            r#"[\\"']{1,8}[ \t]{0,4},[ \t]{0,8}"#,
        ),
    },
    // The value stands in the cell behind the name: `| DB password | … |`.
    Form {
        before: ValueContext { in_cell: true, ..ANY },
        at_least: 0,
        letters: &["|"],
        pattern: concat!(
            r#"(?i-u)\|[ \t]{0,40}[*_`]{0,3}[a-z0-9_. /-]{0,40}?"#,
            name!(),
            r#"(?:[ \t][a-z() ]{0,20})?[:*_`]{0,4}[ \t]{0,40}\|[ \t]{0,40}"#,
        ),
    },
    // A setting stands alone on its line, without a sign between the name and the value: `requirepass …`.
    Form {
        before: ValueContext { own_line: true, ..ANY },
        at_least: 0,
        letters: &[],
        pattern: concat!(
            r#"(?im-u)(?:(?:^[\\"]{0,2}|:[ \t"]{1,3})[ \t]{0,16}|=[\\"]{0,2})(?:set[ \t]{1,4})?(?:wpa-|enable[ \t])?(?:"#,
            setting!(),
            "|",
            name!(),
            r")[ \t]{1,8}",
        ),
    },
    // In prose, without a sign between the name and the value: `log in with password …`.
    Form {
        before: ValueContext { strong: true, ..ANY },
        at_least: 0,
        letters: &[],
        pattern: concat!(
            r"(?i-u)\b(?:with|using|and|mit|und|avec|et|con|y|com|met|en|e)[ \t]{1,4}",
            r"(?:(?:the|this|a|our|my|dem|der|le|la|el|il|het|o)[ \t]{1,4})?(?:[a-z]{1,20}[ \t]{1,4})?",
            name!(),
            r"[ \t]{1,4}",
        ),
    },
    // A random value right behind what may be its name: `use the API token … for staging`.
    Form {
        before: ValueContext { random: true, ..ANY },
        at_least: 20,
        letters: &[],
        pattern: concat!(
            r"(?i-u)(?:\b(?:api|access|auth|bearer|deploy|license|secret)[ _-]?(?:key|token)|\btoken|\bsecret|password",
            r"|passphrase|<WORDS>)[ \t]{1,4}",
        ),
    },
    // A name to log in with, and the password behind a stroke: `login: admin / …`.
    Form {
        before: ValueContext { strong: true, made_up: true, ..ANY },
        at_least: 0,
        letters: &LOGINS,
        pattern: concat!(
            r"(?i-u)\b",
            login!(),
            r"(?:[ \t](?:for|of|für|pour|para|per|voor)",
            r"(?:[ \t](?u:[^ \t\r\n:=])+){1,4})?[ \t]{0,2}(?::|=)[ \t]{0,4}[`]?(?u:[^ \t\r\n/:|`]){2,40}[`]?",
            r"[ \t]{0,2}(?:/|\||:)[ \t]{0,2}",
        ),
    },
    // The private parameters of a JSON Web Key. Their names are single letters, so only long values count.
    Form {
        before: ValueContext { in_quotes: true, ..ANY },
        at_least: 40,
        letters: &["\""],
        pattern: concat!(r"(?-u)\\{0,3}", parameter!(), r"[ \t]{0,4}:[ \t]{0,4}"),
    },
];

/// A part that a text in any form has: a name, or the letter of a parameter of a JSON Web Key.
static NAMED: LazyLock<LazyPattern> = LazyLock::new(|| {
    let pattern = with_words(concat!("(?i-u)", setting!(), "|", name!(), "|", login!(), "|", parameter!()));
    let letters = NAMES.into_iter().chain(LOGINS).chain(password_words::letters()).chain(["\""]);
    LazyPattern::new(pattern, letters.collect::<Vec<_>>())
});

static PATTERNS: LazyLock<Vec<LazyPattern>> =
    LazyLock::new(|| FORMS.iter().map(|form| LazyPattern::new(with_words(form.pattern), form.letters)).collect());

/// A value in quotes whose name stands behind it: `"…" is the password`.
static NAMED_BEHIND: LazyLock<LazyPattern> = LazyLock::new(|| {
    let pattern = concat!(
        r#"(?i-u)[\\]{0,3}(?:"(?u:[^"\\ \t\r\n]){6,80}[\\]{0,3}"|`(?u:[^`\\ \t\r\n]){6,80}`|'(?u:[^'\\ \t\r\n]){6,80}')[ \t]{1,4}"#,
        copula!(),
        r"[ \t]{1,4}(?:",
        since!(),
        r"[ \t]{1,4})?(?:(?:the|your|our|my|its|their|das|unser|mein|dein|le|la|notre|mon|el|nuestra|mi|il|o|a|nossa|minha|het|de)",
        r"[ \t]{1,4})?(?:[a-z0-9-]{1,24}[ \t]{1,4}){0,3}",
        name!(),
    );
    LazyPattern::new(with_words(pattern), vec!["\"", "`", "'"])
});

fn with_words(pattern: &str) -> String {
    pattern.replace("<WORDS>", &password_words::pattern())
}

#[cfg(test)]
pub(super) fn patterns() -> impl Iterator<Item = &'static LazyPattern> {
    PATTERNS.iter().chain([&*NAMED, &*NAMED_BEHIND])
}

/// Finds the spans of values that look like secrets, in order and without overlaps.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    if !NAMED.for_text(text).is_some_and(|named| named.is_match(text)) {
        return found;
    }
    for (form, pattern) in FORMS.iter().zip(PATTERNS.iter()) {
        let Some(pattern) = pattern.for_text(text) else { continue };
        let mut from = 0;
        while let Some(prefix) = pattern.find_at(text, from) {
            from = prefix.end();
            let said = prefix.as_str().to_ascii_lowercase();
            let before = ValueContext {
                bare: form.before.bare || said.ends_with('='),
                made_up: form.before.made_up || speaks_of_a_password(&said),
                ..form.before
            };
            let secret = AssignedValue::at(text, prefix.end(), before).and_then(|value| value.secret());
            if let Some(secret) = secret.filter(|span| span.len() >= form.at_least) {
                from = secret.end;
                found.push(secret);
            }
        }
    }
    if let Some(pattern) = NAMED_BEHIND.for_text(text) {
        let mut from = 0;
        while let Some(value) = pattern.find_at(text, from) {
            from = value.end();
            let said = value.as_str().to_ascii_lowercase();
            let before = ValueContext { made_up: speaks_of_a_password(&said), in_quotes: true, ..ANY };
            found.extend(AssignedValue::at(text, value.start(), before).and_then(|value| value.secret()));
        }
    }
    super::merged(found)
}

fn speaks_of_a_password(name: &str) -> bool {
    const WORDS: [&str; 10] = ["pass", "pwd", "pw", "psk", "senha", "parola", "wifi", "wi-fi", "wlan", "wpa"];
    WORDS.iter().any(|word| name.contains(word)) || password_words::are_in(name)
}
