//! The table of secrets that are known by their looks: provider keys, tokens, webhooks, credentials in addresses.
//! Secrets known only by the name they are assigned to are in `assignment`, private keys in `pem`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::shape::Shape;

pub(super) struct Rule {
    pub kind: &'static str,
    pattern: Pattern,
    /// Looks at what would be replaced; false leaves it.
    check: Option<fn(&str) -> bool>,
}

enum Pattern {
    /// Starts at the edge of a word, or behind a line break or tab as JSON writes them, is replaced to the end of the word it ends in.
    Word(&'static str),
    /// Only the first group is replaced; its last character class holds all word characters, so it ends with its word.
    Group(&'static str),
}

const fn word(kind: &'static str, pattern: &'static str) -> Rule {
    Rule { kind, pattern: Pattern::Word(pattern), check: None }
}

const fn group(kind: &'static str, pattern: &'static str, check: Option<fn(&str) -> bool>) -> Rule {
    Rule { kind, pattern: Pattern::Group(pattern), check }
}

/// Rules with a check come last: what they check then holds every marker that the others make.
static TABLE: &[Rule] = &[
    word("jwt", r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,3}"),
    word("aws", r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}"),
    word("github", r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    word("gitlab", r"(?:gl(?:pat|ptt|dt|rt|cbt|ft|agent|soat)-[A-Za-z0-9_.-]{20,}|GR1348941[A-Za-z0-9_-]{20,})"),
    word("slack", r"(?:xox[abeprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,})"),
    word("slack", r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}"),
    word("discord", r"https://(?:[a-z]{1,10}\.)?discord(?:app)?\.com/api/webhooks/\d{5,}/[A-Za-z0-9_-]{20,}"),
    word("telegram", r"\d{8,10}:AA[A-Za-z0-9_-]{32,}"),
    word("google", r"(?:AIza[A-Za-z0-9_-]{35,}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,})"),
    word("stripe", r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,})"),
    word("openrouter", r"sk-or-v1-[A-Za-z0-9_-]{16,}"),
    word("anthropic", r"sk-ant-(?:[a-z]{2,}\d{2}-)?[A-Za-z0-9_-]{20,}"),
    word("openai", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}"),
    word("huggingface", r"(?:hf_|api_org_)[A-Za-z]{30,}"),
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
    word("terraform", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}"),
    word("notion", r"ntn_[A-Za-z0-9]{40,}"),
    word("nvidia", r"nvapi-[A-Za-z0-9_-]{40,}"),
    word("langsmith", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{8,}"),
    word("age", r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    group("url-login", r#"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'<>\[\]`]*:([^\s/@"'<>\[\]`]+)@"#, Some(is_written_out)),
    Rule { kind: "openai", pattern: Pattern::Word(r"sk-[A-Za-z0-9_-]{20,}"), check: Some(looks_random) },
    Rule { kind: "mailgun", pattern: Pattern::Word(r"key-[0-9a-z]{32}"), check: Some(looks_random) },
    Rule { kind: "pypi", pattern: Pattern::Word(r"pypi-[A-Za-z0-9_-]{16,}"), check: Some(looks_random) },
    group("url-login", r"[A-Za-z][A-Za-z0-9+.-]*://([A-Za-z0-9_-]{16,})@", Some(looks_random)),
    group(
        "basic",
        r#"(?i-u:(?:\b|\\[nrt])authorization)[\\"']{0,4}[ \t]*[:=][ \t]*[\\"']{0,4}(?i-u:basic|token|apikey|digest)[ \t]+([A-Za-z0-9._~+/-]{6,}={0,2})"#,
        Some(|_| true),
    ),
    group("bearer", r"(?i-u:(?:\b|\\[nrt])bearer)[ \t]+([A-Za-z0-9._~+/-]{8,}={0,2})", Some(looks_random)),
];

#[cfg(test)]
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|rule| rule.kind)
}

fn looks_random(value: &str) -> bool {
    let head = &value[..value.floor_char_boundary(256)];
    Shape::of(head).is_random()
}

/// Not a place where a template or a shell puts the value in.
fn is_written_out(value: &str) -> bool {
    !value.starts_with(['$', '{', '%', '*'])
}

impl Pattern {
    fn source(&self) -> String {
        match self {
            Self::Word(pattern) => format!(r"(?:(?-u:\b)|\\[nrt])((?:{pattern})(?-u:\w*))"),
            Self::Group(pattern) => (*pattern).to_owned(),
        }
    }
}

#[allow(clippy::expect_used, reason = "the table is constant, and the tests compile every pattern in it")]
static COMPILED: LazyLock<(RegexSet, Vec<Regex>)> = LazyLock::new(|| {
    let sources: Vec<String> = TABLE.iter().map(|rule| rule.pattern.source()).collect();
    let set = RegexSet::new(&sources).expect("every rule is a valid pattern");
    let each = sources.iter().map(|source| Regex::new(source).expect("every rule is a valid pattern")).collect();
    (set, each)
});

/// A rule that has something to say about a text.
pub(super) struct Present {
    pub kind: &'static str,
    rule: &'static Rule,
    regex: &'static Regex,
}

pub(super) fn present_in(text: &str) -> impl Iterator<Item = Present> + use<> {
    let (set, each) = &*COMPILED;
    let present = |index: usize| Present { kind: TABLE[index].kind, rule: &TABLE[index], regex: &each[index] };
    set.matches(text).into_iter().map(present)
}

impl Present {
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        self.regex
            .captures_iter(text)
            .filter_map(|captures| captures.get(1).or_else(|| captures.get(0)))
            .filter(|found| self.rule.check.is_none_or(|check| check(found.as_str())))
            .map(|found| found.range())
            .collect()
    }
}
