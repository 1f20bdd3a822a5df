//! Columns of passwords in tables. The tables are those of markdown, of clients of databases, and of comma-separated
//! values. The heading says which column has passwords.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::password_words::{self, PASSWORD_WORDS};
use super::value::{AssignedValue, ValueContext};

/// The most rows below a heading that are read. No transcript has more.
const MOST_ROWS: usize = 1_000;
const MOST_CELLS: usize = 64;

/// A pattern that every name of such a column matches. It tells quickly that most lines are no heading.
#[allow(clippy::expect_used, reason = "a constant pattern that every test of this module compiles")]
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = format!("(?i-u)pass|pwd?|secret|token|key|{}", password_words::pattern());
    Regex::new(&pattern).expect("a valid pattern")
});

pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !NAMED.is_match(text) {
        return found;
    }
    let lines: Vec<(usize, &str)> = lines(text).collect();
    let mut at = 0;
    while at < lines.len() {
        let Some(table) = table_at(&lines[at..]) else {
            at += 1;
            continue;
        };
        for (start, line) in &table.rows {
            let cells = cells(line, table.separator);
            let secrets = table.columns.iter().filter_map(|column| cells.get(*column));
            found.extend(secrets.filter_map(|cell| secret(text, start + cell.start..start + cell.end)));
        }
        at += table.lines;
    }
    found
}

struct Table<'a> {
    separator: char,
    /// The places of the cells that hold a password in a row, counted from 0.
    columns: Vec<usize>,
    rows: Vec<(usize, &'a str)>,
    lines: usize,
}

/// Returns the table that begins at the first line, if it has a column of secrets.
fn table_at<'a>(lines: &[(usize, &'a str)]) -> Option<Table<'a>> {
    let (_, heading) = lines.first().filter(|(_, heading)| NAMED.is_match(heading))?;
    // A text begins behind its name: `"content": "`, `wrote: `, `text=`.
    let heading = heading.rsplit([':', '=']).next()?.trim_start_matches([' ', '\t', '"']);
    let separator = ['|', ',', ';', '\t'].into_iter().find(|separator| heading.contains(*separator))?;
    // The text before the first border is no cell where the lines below have borders: "How do I hide | Token |".
    let bordered = separator == '|' && lines.get(1).is_some_and(|(_, line)| line.trim_start().starts_with('|'));
    let heading = if bordered { &heading[heading.find('|').unwrap_or(0)..] } else { heading };
    let names: Vec<&str> = cells(heading, separator).into_iter().map(|cell| &heading[cell]).collect();
    let columns: Vec<usize> = names.iter().enumerate().filter(|(_, name)| is_name(name)).map(|(n, _)| n).collect();
    let is_heading = (names.len() >= 2 || separator == '|') && names.iter().all(|name| is_heading(name));
    if columns.is_empty() || !is_heading {
        return None;
    }
    let is_rule = |line: &str| line.contains("--") && line.chars().all(|c| "-:|+ \t".contains(c));
    // A rule below the heading makes it a table. Without one it is comma-separated values, or a sentence with a comma.
    let ruled = lines.get(1).is_some_and(|(_, line)| is_rule(line));
    if ruled != (separator == '|') || (!ruled && heading.contains(' ')) {
        return None;
    }
    let rows = lines.iter().skip(1 + usize::from(ruled)).take(MOST_ROWS);
    // Every line has at least one cell. In a table of one column, a row must also begin with a border.
    let is_row = |line: &str| {
        let cells = cells(line, separator).len();
        // Something may stand behind the last border, such as the end of the string that the table is in.
        let fits = cells == names.len() || (separator == '|' && cells > names.len());
        fits && (names.len() > 1 || line.trim_start().starts_with(separator))
    };
    let rows: Vec<_> = rows.take_while(|(_, line)| is_row(line)).copied().collect();
    (!rows.is_empty()).then(|| Table { separator, columns, lines: 1 + rows.len() + usize::from(ruled), rows })
}

fn secret(text: &str, cell: Range<usize>) -> Option<Range<usize>> {
    let before = ValueContext { bare: true, made_up: true, ..ValueContext::default() };
    let secret = AssignedValue::at(&text[..cell.end], cell.start, before)?.secret()?;
    (secret.end <= cell.end).then_some(secret)
}

fn is_name(cell: &str) -> bool {
    const NAMES: [&str; 16] = [
        "password",
        "passwd",
        "pass",
        "pwd",
        "pw",
        "secret",
        "token",
        "api key",
        "api_key",
        "apikey",
        "api-key",
        "access key",
        "secret key",
        "secret_key",
        "private key",
        "passphrase",
    ];
    let name = cell.trim_matches(['*', '_', '`', '"', '\'', ' ']).to_ascii_lowercase();
    NAMES
        .iter()
        .chain(PASSWORD_WORDS)
        .any(|known| name == *known || name.strip_suffix(known).is_some_and(|rest| rest.ends_with([' ', '_', '-'])))
}

/// Tells whether a cell may be part of a heading: it has a few words, and is neither a sentence nor code.
fn is_heading(cell: &str) -> bool {
    cell.len() <= 48 && cell.chars().all(|c| c.is_alphanumeric() || " _-*`\"'/#().".contains(c))
}

/// Returns the cells of a row without the blanks around them.
fn cells(line: &str, separator: char) -> Vec<Range<usize>> {
    let trimmed = line.trim();
    let lead = line.len() - line.trim_start().len();
    let outer = if separator == '|' { trimmed.strip_prefix('|').unwrap_or(trimmed) } else { trimmed };
    let mut at = lead + (trimmed.len() - outer.len());
    // In a string, a quote stands behind the last line.
    let bare = outer.trim_end_matches(['"', '\\']);
    let outer = if separator == '|' { bare.strip_suffix('|').unwrap_or(outer) } else { outer };
    let mut found = Vec::new();
    for part in outer.split(separator).take(MOST_CELLS) {
        let start = at + (part.len() - part.trim_start().len());
        found.push(start..start + part.trim().len());
        at += part.len() + separator.len_utf8();
    }
    found
}

/// Returns the lines of a text, each with the place where it begins.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split('\n').map(move |line| {
        let begin = at;
        at += line.len() + 1;
        (begin, line.trim_end_matches('\r'))
    })
}
