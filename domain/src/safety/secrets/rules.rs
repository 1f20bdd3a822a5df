//! The table of secrets that are known by their looks: provider keys, tokens, webhooks, credentials in addresses.
//! Secrets that are known only by the name they are assigned to are in `assignment`, and private keys are in `pem`.

use std::ops::Range;
use std::sync::LazyLock;

use super::base64;
use super::lazy_pattern::LazyPattern;
use super::shape::Shape;
use super::value::{is_written_out, written_at};

pub(super) struct Rule {
    pub kind: &'static str,
    pattern: Pattern,
    /// Every match has one of these in it, in capitals or not. Where there are none, nothing is known of a match.
    letters: &'static [&'static str],
    /// It looks at the text that would be replaced. Where it returns false, the text stays.
    check: Option<fn(&str) -> bool>,
}

enum Pattern {
    /// A match starts at the edge of a word, and is replaced to the end of the word it ends in.
    Word(&'static str),
    /// Only the first group is replaced. Most groups end with a class of all word characters, and so with their word.
    Group(&'static str),
    /// The value that begins with the first group is replaced. It may be in quotes, and the group need not have it all.
    Value(&'static str),
}

const fn word(kind: &'static str, pattern: &'static str) -> Rule {
    Rule { kind, pattern: Pattern::Word(pattern), letters: &[], check: None }
}

/// A word that does not begin with letters of its own, or with one of several.
const fn word_with(kind: &'static str, letters: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule { letters, ..word(kind, pattern) }
}

const fn group(
    kind: &'static str,
    letters: &'static [&'static str],
    pattern: &'static str,
    check: Option<fn(&str) -> bool>,
) -> Rule {
    Rule { kind, pattern: Pattern::Group(pattern), letters, check }
}

const fn value(
    kind: &'static str,
    letters: &'static [&'static str],
    pattern: &'static str,
    check: fn(&str) -> bool,
) -> Rule {
    Rule { kind, pattern: Pattern::Value(pattern), letters, check: Some(check) }
}

/// Rules with a check come last, so that the text which they check already has every marker that the others make.
static TABLE: &[Rule] = &[
    word("jwt", r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,3}"),
    word("aws", r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}"),
    word("github", r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    word_with(
        "gitlab",
        &["gl", "gr1348941"],
        r"(?:gl(?:pat|ptt|dt|rt|cbt|ft|agent|soat)-[A-Za-z0-9_.-]{20,}|GR1348941[A-Za-z0-9_-]{20,})",
    ),
    word_with("slack", &["xox", "xapp-"], r"(?:xox[abeprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,})"),
    word("slack", r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}"),
    word("discord", r"https://(?:[a-z]{1,10}\.)?discord(?:app)?\.com/api/webhooks/\d{5,}/[A-Za-z0-9_-]{20,}"),
    word_with("telegram", &[":aa"], r"\d{8,10}:AA[A-Za-z0-9_-]{32,}"),
    word("google", r"(?:AIza[A-Za-z0-9_-]{35,}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,})"),
    word_with(
        "stripe",
        &["k_live", "k_test", "whsec_"],
        r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,})",
    ),
    word("reasoning-bank", r"rb_[0-9a-f]{12}_[0-9a-f]{64}"),
    word("openrouter", r"sk-or-v1-[A-Za-z0-9_-]{16,}"),
    word("anthropic", r"sk-ant-(?:[a-z]{2,}\d{2}-)?[A-Za-z0-9_-]{20,}"),
    word("openai", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}"),
    word("huggingface", r"(?:hf_|api_org_)[A-Za-z0-9]{30,}"),
    word("npm", r"npm_[A-Za-z0-9]{30,}"),
    word("groq", r"gsk_[A-Za-z0-9]{30,}"),
    word("xai", r"xai-[A-Za-z0-9]{40,}"),
    word("perplexity", r"pplx-[A-Za-z0-9]{40,}"),
    word("replicate", r"r8_[A-Za-z0-9]{30,}"),
    word("sendgrid", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    word("twilio", r"SK[0-9a-f]{32}"),
    word("mailgun", r"key-[0-9a-f]{32}"),
    word("digitalocean", r"do[opr]_v1_[a-f0-9]{32,}"),
    word("shopify", r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    word("databricks", r"dapi[a-f0-9]{32}"),
    word("atlassian", r"ATATT[A-Za-z0-9_=-]{40,}"),
    word("vault", r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    word("doppler", r"dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9_.]{30,}"),
    word("linear", r"lin_api_[A-Za-z0-9]{30,}"),
    word("docker", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    word("figma", r"fig[dou]_[A-Za-z0-9_-]{30,}"),
    word("grafana", r"gl(?:sa|c)_[A-Za-z0-9_+/=]{32,}"),
    word("new-relic", r"NR(?:AK|JS|II)-[A-Z0-9]{19,}"),
    word("sentry", r"sntry[su]_[A-Za-z0-9_+/=]{32,}"),
    word("planetscale", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,}"),
    word("supabase", r"sb(?:p|_secret)_[A-Za-z0-9_-]{30,}"),
    word("tailscale", r"tskey-[a-z]{2,}-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}"),
    word("rubygems", r"rubygems_[a-f0-9]{32,}"),
    word("airtable", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    word("square", r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{20,}"),
    word("pinecone", r"pcsk_[A-Za-z0-9_]{40,}"),
    word("postman", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    word_with("terraform", &["atlasv1"], r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}"),
    word("notion", r"ntn_[A-Za-z0-9]{40,}"),
    word("nvidia", r"nvapi-[A-Za-z0-9_-]{40,}"),
    word("langsmith", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{8,}"),
    word("age", r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    word(
        "base64-key",
        r"LS0tLS1CRUdJTi(?:BSU0EgUFJJVkFUR|BQUklWQVRF|BFQyBQUklWQVRF|BPUEVOU1NI|BFTkNSWVBURU|BEU0EgUFJJVkFUR)[A-Za-z0-9+/=]{20,}",
    ),
    word("discord", r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"),
    word_with("azure", &["8q~"], r"[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,34}"),
    word("fly", r"(?:fm[12][ar]?_|fo1_)[A-Za-z0-9+/=_-]{40,}"),
    word("netlify", r"nfp_[A-Za-z0-9]{36,}"),
    word("brevo", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    word_with("mailchimp", &["-us"], r"[a-f0-9]{32}-us[0-9]{1,2}"),
    word("pulumi", r"pul-[a-f0-9]{40}"),
    word("razorpay", r"rzp_(?:live|test)_[A-Za-z0-9]{14,}"),
    word("buildkite", r"bkua_[a-f0-9]{40}"),
    word("circleci", r"CCIPAT_[A-Za-z0-9_]{40,}"),
    word("dynatrace", r"dt0[a-z]01\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    word("sonarqube", r"sq[pua]_[a-f0-9]{40}"),
    word("posthog", r"ph[xc]_[A-Za-z0-9]{40,}"),
    word("tavily", r"tvly-[A-Za-z0-9-]{24,}"),
    word("jina", r"jina_[A-Za-z0-9_-]{40,}"),
    word("elevenlabs", r"sk_[a-f0-9]{40,}"),
    word("hubspot", r"pat-(?:na|eu)[0-9]-[a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12}"),
    word("alibaba", r"LTAI[A-Za-z0-9]{16,26}"),
    word("jfrog", r"(?:AKCp[A-Za-z0-9]{60,}|cmVmdGtu[A-Za-z0-9]{50,})"),
    word("bitbucket", r"(?:ATBB[A-Za-z0-9]{28,}|ATCTT3[A-Za-z0-9_=-]{60,})"),
    word("facebook", r"EAA[A-Za-z0-9]{80,}"),
    word("dropbox", r"sl\.[A-Za-z0-9_-]{100,}"),
    word("octopus", r"API-[A-Z0-9]{26}"),
    word("plaid", r"access-(?:production|sandbox|development)-[a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12}"),
    // Hashes of passwords, as files of users hold them.
    group("password-hash", &["$2"], r"(\$2[abxy]?\$[0-9]{2}\$[./A-Za-z0-9]{50,}\w*)", None),
    group(
        "password-hash",
        &["$"],
        r"(\$(?:1|5|6|7|y|gy|md5|sm3|sha1|apr1)\$(?:[a-zA-Z0-9=,./]{1,24}\$){1,3}[./A-Za-z0-9]{20,}\w*)",
        None,
    ),
    group(
        "password-hash",
        &["$argon2", "$scrypt"],
        r"(\$(?:argon2(?:id|i|d)|scrypt)\$[A-Za-z0-9=,$+/.-]{30,}\w*)",
        None,
    ),
    group(
        "password-hash",
        &["pbkdf2", "scrypt"],
        r"((?:pbkdf2|scrypt)[_:][a-z0-9:_]{1,24}[$:][A-Za-z0-9$:+/=.]{30,}\w*)",
        None,
    ),
    group(
        "password-hash",
        &["{s", "{md5", "{crypt", "{pbkdf2"],
        r"(\{(?:S?SHA(?:256|512)?|S?MD5|CRYPT|PBKDF2[A-Z0-9-]*)\}[A-Za-z0-9+/=.$]{16,}\w*)",
        None,
    ),
    group(
        "password-hash",
        &["scram-sha"],
        r"(SCRAM-SHA-(?:1|256)\$[0-9]+:[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=]+:[A-Za-z0-9+/=]+\w*)",
        None,
    ),
    group("password-hash", &["*"], r"(?:^|[\s:'])(\*[0-9A-F]{40})\b", None),
    group("password-hash", &[":::"], r":([a-fA-F0-9]{32}:[a-fA-F0-9]{32}):::", None),
    Rule { check: Some(looks_random), ..word("openai", r"sk-[A-Za-z0-9_-]{20,}") },
    Rule { check: Some(looks_random), ..word("mailgun", r"key-[0-9a-z]{32}") },
    Rule { check: Some(looks_random), ..word("pypi", r"pypi-[A-Za-z0-9_-]{16,}") },
    group("url-login", &["://"], r"[A-Za-z][A-Za-z0-9+.-]*://([A-Za-z0-9_-]{16,})@", Some(looks_random)),
    group(
        "basic",
        &["authorization"],
        r#"(?i-u:\bauthorization)[\\"']{0,4}[ \t]*[:=][ \t]*[\\"']{0,4}(?i-u:basic|token|apikey|digest)[ \t]+([A-Za-z0-9._~+/-]{6,}={0,2})"#,
        Some(|_| true),
    ),
    group(
        "signature",
        &["sig", "hmac", "security-token"],
        r"(?i-u)\b(?:x-(?:amz|goog)-(?:signature|security-token)|sig|signature|hmac)(?:=|%3D)([A-Za-z0-9%+/=_.~-]{20,})",
        Some(looks_random),
    ),
    group(
        "query",
        &["code=", "key=", "auth=", "hash=", "st="],
        r"(?i-u)[?&](?:code|key|auth|apikey|hash|st)=([A-Za-z0-9%+/=_.~-]{16,})",
        Some(looks_random),
    ),
    group(
        "basic",
        &["auth"],
        r#"(?-u)(?:\b|_)auth[\\"']{0,4}[ \t]{0,4}[:=][ \t]{0,4}[\\"']{0,4}([A-Za-z0-9+/]{8,}={0,2})"#,
        Some(is_login_in_base64),
    ),
    group(
        "join-token",
        &["token"],
        r#"(?i-u)token[\\"']{0,4}[ \t:=]{1,4}[\\"']{0,4}([a-z0-9]{6}\.[a-z0-9]{16})\b"#,
        Some(has_digit),
    ),
    // `machine … login … password …` over one line or several, and similar lines of routers.
    group(
        "netrc",
        &["password", "secret"],
        r#"(?i-u)\b(?:machine|default)\s{1,8}(?u:[^\s"\\])+(?:\s{1,8}(?:login|account)\s{1,8}(?u:[^\s"\\])+){0,2}\s{1,8}(?:password|secret)[ \t]{1,8}(?:[0579][ \t]{1,8})?((?u:[^\s"'\\,;]){3,})"#,
        Some(is_written_out),
    ),
    group(
        "netrc",
        &["password", "secret"],
        r#"(?i-u)\b(?:login|user(?:name)?)\s{1,8}(?u:[^\s"\\])+(?:\s{1,8}(?:login|account)\s{1,8}(?u:[^\s"\\])+){0,2}\s{1,8}(?:password|secret)[ \t]{1,8}(?:[0579][ \t]{1,8})?((?u:[^\s"'\\,;]){3,})"#,
        Some(is_made_up),
    ),
    group(
        "pgpass",
        &[":54", ":6432", ":6543", ":26257", ":*:"],
        r#"(?m-u)(?:^|["' \t=])(?:[A-Za-z0-9.-]+|\*):(?:54[0-9]{2}|6432|6543|26257|\*):[A-Za-z0-9_*-]+:[A-Za-z0-9_.*-]+:((?u:[^\s"'\\]){3,})"#,
        Some(is_written_out),
    ),
    group(
        "url-login",
        &["@tcp(", "@unix("],
        r#"\b[A-Za-z0-9_.-]+:([^\s@"'`:/\[\]<>]+)@(?:tcp|unix)\("#,
        Some(is_written_out),
    ),
    value(
        "sql",
        &["identified"],
        r#"(?i-u)\bidentified[ \t]{1,4}(?:with[ \t]{1,4}[a-z0-9_]{1,40}[ \t]{1,4})?(?:by|as)[ \t]{1,4}(\\{0,3}["'])"#,
        is_written_out,
    ),
    value(
        "sql",
        &["password"],
        r#"(?i-u)\bpassword[ \t]{0,4}(?:\(|[ \t])[ \t]{0,4}(\\?'(?:(?u:[^'\n\\\[])|''|\\'){4,}\\?')"#,
        is_made_up,
    ),
    value(
        "powershell",
        &["securestring"],
        r#"(?i-u)\bConvertTo-SecureString[ \t]{1,4}(?:-String[ \t]{1,4}|-AsPlainText[ \t]{1,4}|-Force[ \t]{1,4}){0,3}(\\{0,3}["'])"#,
        is_written_out,
    ),
    group(
        "net-use",
        &["/add"],
        r#"(?i-u)\bnet[ \t]{1,4}user[ \t]{1,4}(?u:[^\s"])+[ \t]{1,4}((?u:[^\s"'/\\])+)[ \t]{1,4}/add"#,
        Some(is_account_password),
    ),
    value(
        "environment",
        &["pass", "_pwd", "_auth"],
        r#"(?-u)\b(?:PGPASSWORD|MYSQL_PWD|MYSQL_(?:ROOT_)?PASSWORD|MARIADB_ROOT_PASSWORD|POSTGRES_PASSWORD|SSHPASS|REDISCLI_AUTH|RESTIC_PASSWORD|BORG_PASSPHRASE|MONGO_INITDB_ROOT_PASSWORD|RABBITMQ_DEFAULT_PASS|SA_PASSWORD|MSSQL_SA_PASSWORD|VNC_PASSWORD)[\\"']{0,4}[ \t]{0,2}[=:][ \t]{0,2}()"#,
        is_written_out,
    ),
    group("bearer", &["bearer"], r"(?i-u:\bbearer)[ \t]+([A-Za-z0-9._~+/-]{8,}={0,2})", Some(looks_random)),
];

#[cfg(test)]
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|rule| rule.kind)
}

fn looks_random(value: &str) -> bool {
    let head = &value[..value.floor_char_boundary(256)];
    Shape::of(head).is_random()
}

fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}

/// Tells whether a value is a password that people make up, as opposed to a word of a sentence.
fn is_made_up(value: &str) -> bool {
    let other = |c: char| !c.is_alphabetic() && !".,:;!?)-_/".contains(c);
    is_written_out(value) && value.chars().any(other)
}

/// Tells whether a value is long enough for the password of an account. The pattern does not count: a class of nearly
/// all characters takes two milliseconds to compile, for each of its repetitions.
fn is_account_password(value: &str) -> bool {
    value.chars().nth(5).is_some() && is_written_out(value)
}

/// Tells whether a value is `user:password` in base64, as files of registries have it.
fn is_login_in_base64(value: &str) -> bool {
    let text = base64::decoded(value);
    text.is_some_and(|text| {
        text.split_once(':').is_some_and(|(user, password)| !user.is_empty() && !password.is_empty())
    })
}

static PATTERNS: LazyLock<Vec<LazyPattern>> = LazyLock::new(|| TABLE.iter().map(Rule::lazy_pattern).collect());

impl Rule {
    fn lazy_pattern(&self) -> LazyPattern {
        match self.pattern {
            Pattern::Word(pattern) => {
                let letters = if self.letters.is_empty() { beginnings(pattern) } else { self.letters.to_vec() };
                LazyPattern::new(format!(r"(?-u:\b)((?:{pattern})(?-u:\w*))"), letters)
            }
            Pattern::Group(pattern) | Pattern::Value(pattern) => LazyPattern::new(pattern, self.letters),
        }
    }
}

/// Returns the letters that matches of a pattern begin with, for each of its alternatives. It is empty where the
/// pattern does not begin with two letters at least.
fn beginnings(pattern: &str) -> Vec<&str> {
    let alternatives = pattern.strip_prefix("(?:").and_then(|rest| rest.split(')').next());
    let found: Vec<&str> = match alternatives {
        // An alternative within an alternative is not looked into.
        Some(alternatives) if alternatives.contains('(') => Vec::new(),
        Some(alternatives) => alternatives.split('|').map(beginning).collect(),
        None => vec![beginning(pattern)],
    };
    let are_told = found.iter().all(|letters| letters.len() > 1);
    if are_told { found } else { Vec::new() }
}

/// Returns the letters at the beginning of a pattern that stand for themselves.
fn beginning(pattern: &str) -> &str {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "_-/:".contains(c);
    let end = pattern.find(|c| !is_letter(c)).unwrap_or(pattern.len());
    // A letter that may be missing or be there several times does not count.
    let end = if pattern[end..].starts_with(['?', '*', '+', '{']) { end.saturating_sub(1) } else { end };
    &pattern[..end]
}

/// A rule of the table with its pattern.
pub(super) struct RuleWithPattern {
    pub kind: &'static str,
    rule: &'static Rule,
    pub(super) pattern: &'static LazyPattern,
}

/// Returns every rule. Each is searched for by itself. Most begin with fixed letters, which are looked for first. There
/// are too many for an automaton of all of them to be fast.
pub(super) fn all() -> impl Iterator<Item = RuleWithPattern> {
    TABLE.iter().zip(PATTERNS.iter()).map(|(rule, pattern)| RuleWithPattern { kind: rule.kind, rule, pattern })
}

impl RuleWithPattern {
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let Some(regex) = self.pattern.for_text(text) else { return Vec::new() };
        // Most texts hold nothing that a rule looks for, and finding groups costs more than finding a match.
        if !regex.is_match(text) {
            return Vec::new();
        }
        regex
            .captures_iter(text)
            .filter_map(|captures| captures.get(1).or_else(|| captures.get(0)))
            .map(|found| match self.rule.pattern {
                Pattern::Value(_) => written_at(text, found.start()),
                Pattern::Word(_) | Pattern::Group(_) => found.range(),
            })
            .filter(|span| self.rule.check.is_none_or(|check| check(&text[span.clone()])))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_of_a_pattern_are_those_that_every_match_begins_with() {
        assert_eq!(beginnings("xai-[A-Z]{4}"), ["xai-"]);
        assert_eq!(beginnings("(?:AKIA|ASIA)[0-9]{2}"), ["AKIA", "ASIA"]);
        assert_eq!(beginnings(r"(?:AIza[A-Z]{35,}|ya29\.[a-z])"), ["AIza", "ya29"]);
        assert_eq!(beginnings("abc?d"), ["ab"]);
        for unknown in ["(?:gl(?:pat|ptt)-x|GR13)", "[MNO][a-z]", r"\d{8}:AA", "a[bc]"] {
            assert_eq!(beginnings(unknown), [""; 0], "{unknown}");
        }
    }
}
