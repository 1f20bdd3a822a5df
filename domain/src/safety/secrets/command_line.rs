//! Passwords in the arguments of commands: `curl -u user:password`, `sshpass -p …`, `mysql -p…`, `echo … | sudo -S`.
//! A text in such a place is a password whatever it looks like. Only placeholders and what a shell fills in stay.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::value::{is_written_out, up_to};

/// The way in which an option takes its password. Whatever the way, `=` may also join the option and its password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// The password is the next word.
    Next,
    /// The password is the next word, or follows the letter of the option at once.
    NextOrJoined,
    /// The password follows the letter of the option at once. Otherwise the command asks for it.
    Joined,
    /// The password is behind this character, in the next word or in what follows the option at once: `user:password`.
    Behind(char),
}

struct PasswordRule {
    commands: &'static [&'static str],
    /// A word that must stand between the command and the option.
    after: Option<&'static str>,
    options: &'static [&'static str],
    how: How,
}

const fn rule(commands: &'static [&'static str], options: &'static [&'static str], how: How) -> PasswordRule {
    PasswordRule { commands, after: None, options, how }
}

const REGISTRIES: &[&str] =
    &["docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "crane", "oc", "az", "cf", "vercel"];
const MYSQL: &[&str] =
    &["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlcheck", "mariadb", "mariadb-dump", "mycli"];
const MONGO: &[&str] = &["mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"];
const LDAP: &[&str] = &["ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami", "ldapdelete", "ldappasswd"];
const LONG_PASSWORD: &[&str] = &["influx", "consul", "nomad", "vault", "svn", "gpg", "gpg2", "kinit"];

const RULES: &[PasswordRule] = &[
    rule(&["curl", "wget", "xh"], &["-u", "--user", "-U", "--proxy-user"], How::Behind(':')),
    rule(&["http", "https", "xh", "hey"], &["-a", "--auth"], How::Behind(':')),
    rule(&["ab"], &["-A"], How::Behind(':')),
    PasswordRule {
        commands: REGISTRIES,
        after: Some("login"),
        options: &["-p", "--password", "--token"],
        how: How::NextOrJoined,
    },
    rule(&["sshpass"], &["-p"], How::NextOrJoined),
    rule(MYSQL, &["-p", "--password"], How::Joined),
    rule(MONGO, &["-p", "--password"], How::NextOrJoined),
    rule(&["redis-cli", "valkey-cli"], &["-a", "--pass"], How::Next),
    rule(LDAP, &["-w"], How::NextOrJoined),
    rule(&["smbclient", "rpcclient", "smbmap", "winexe", "wmic"], &["-U", "--user"], How::Behind('%')),
    rule(&["zip", "unzip", "ipmitool"], &["-P"], How::NextOrJoined),
    rule(&["7z", "7za", "7zz", "rar", "unrar"], &["-p"], How::Joined),
    rule(&["openssl"], &["-passin", "-passout", "-pass"], How::Behind(':')),
    rule(&["openssl"], &["-k", "-K"], How::Next),
    rule(&["ssh-keygen"], &["-N", "-P"], How::Next),
    rule(&["keytool", "jarsigner"], &["-storepass", "-keypass", "-srcstorepass", "-deststorepass"], How::Next),
    rule(&["sqlcmd", "bcp", "isql"], &["-P"], How::NextOrJoined),
    rule(&["xfreerdp", "wfreerdp", "freerdp", "cmdkey"], &["/p", "/pass"], How::Behind(':')),
    rule(&["twine", "cqlsh", "crackmapexec", "nxc", "evil-winrm"], &["-p", "--password"], How::Next),
    rule(&["useradd", "usermod"], &["-p", "--password"], How::Next),
    rule(LONG_PASSWORD, &["-password", "-token", "--password", "--passphrase"], How::Next),
    rule(&["plink", "pscp", "psftp"], &["-pw"], How::Next),
    rule(&["mosquitto_pub", "mosquitto_sub"], &["-P", "--pw"], How::Next),
    rule(&["snmpwalk", "snmpget"], &["-A", "-X"], How::Next),
    rule(&["security"], &["-p"], How::Next),
    rule(&["nmcli"], &["password"], How::Next),
];

/// The command whose last word is a password where `-b` says so.
const IN_BATCH: &str = "htpasswd";

/// Commands that read a password which another command writes to them, each with the words that make it do so. A
/// command without such words always does.
const READERS: &[(&str, &[&str])] = &[
    ("sudo", &["-S", "--stdin"]),
    ("chpasswd", &[]),
    ("passwd", &["--stdin"]),
    ("docker", &["--password-stdin"]),
    ("podman", &["--password-stdin"]),
    ("helm", &["--password-stdin"]),
    ("gh", &["--with-token"]),
    ("gpg", &["--passphrase-fd"]),
    ("cryptsetup", &["luksFormat", "luksOpen", "open", "luksAddKey"]),
    ("vault", &["login"]),
];

/// Tells whether the quote around the whole command ends with this word, as in `run "htpasswd -b file user password"`.
fn closes_a_quote(word: &str) -> bool {
    word.trim_end_matches(['}', ')', ']', ',', ':', ';', '.']).ends_with('"') && word.matches('"').count() % 2 == 1
}

/// The characters that may close a text in which a command is quoted.
const CLOSING: [char; 9] = ['"', '\'', '`', '\\', ')', '}', ',', ':', ';'];

const WRITERS: [&str; 2] = ["echo", "printf"];

#[allow(clippy::expect_used, reason = "a constant pattern that every test of this module compiles")]
static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    let of_rules = RULES.iter().flat_map(|rule| rule.commands).copied();
    let names: Vec<String> = of_rules.chain([IN_BATCH]).chain(WRITERS).map(regex::escape).collect();
    // A command is a whole word: not `curl.rs`, nor `http://`.
    Regex::new(&format!(r#"(?-u)\b(?:{})(?:\.exe)?[\\"',]{{0,8}}[ \t]"#, names.join("|"))).expect("a valid pattern")
});

pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(command) = COMMAND.find_at(text, from) {
        let start = command.start();
        // In an array of words the first one is quoted by itself.
        let by_itself = command.as_str().contains(['"', '\'']) && text[..start].ends_with(['"', '\'']);
        let start = if by_itself { start - 1 } else { start };
        let mut line = ShellLine::new(text, start);
        line.read();
        from = line.at.max(command.end());
        found.append(&mut line.found);
    }
    found
}

/// One line of a shell, read word by word.
struct ShellLine<'a> {
    text: &'a str,
    at: usize,
    /// The command that the next words belong to, and those words so far.
    command: &'a str,
    words: Vec<&'a str>,
    /// The option that waits for its value.
    waiting: Option<How>,
    /// The text that an `echo` wrote into the pipe.
    written: Option<Range<usize>>,
    /// The words that are no options.
    plain: Vec<Range<usize>>,
    found: Vec<Range<usize>>,
}

/// The most words of one command that are looked at. Only programs write longer commands.
const MOST_WORDS: usize = 200;

impl<'a> ShellLine<'a> {
    fn new(text: &'a str, at: usize) -> Self {
        let (words, plain, found) = (Vec::new(), Vec::new(), Vec::new());
        Self { text, at, command: "", words, waiting: None, written: None, plain, found }
    }

    fn read(&mut self) {
        while let Some(word) = ShellWord::next(self.text, &mut self.at) {
            match word {
                ShellWord::EndOfCommand(piped) => self.end_command(piped),
                ShellWord::Text(span) if self.words.len() < MOST_WORDS => {
                    let is_last = closes_a_quote(&self.text[span.clone()]);
                    self.take(span);
                    if is_last {
                        self.end_command(false);
                    }
                }
                ShellWord::Text(_) => {}
            }
        }
        self.end_command(false);
    }

    fn take(&mut self, span: Range<usize>) {
        let word = &self.text[span.clone()];
        if let Some(how) = self.waiting.take() {
            self.password(span.clone(), how);
        } else if let Some(command) = known(word) {
            // A command may stand within the words of another one: `docker exec db mysql …`.
            if self.command.is_empty() || !WRITERS.contains(&self.command) {
                (self.command, self.words, self.plain) = (command, Vec::new(), Vec::new());
                return;
            }
        } else if word.starts_with(['-', '/']) || word == "password" {
            self.option(word, span.start);
        }
        if !word.starts_with('-') {
            self.plain.push(span);
        }
        self.words.push(word);
    }

    fn option(&mut self, word: &'a str, start: usize) {
        let rules = RULES.iter().filter(|rule| rule.commands.contains(&self.command));
        for rule in rules.filter(|rule| rule.after.is_none_or(|after| self.words.contains(&after))) {
            for option in rule.options {
                // The option may be the last of several letters in one word, as in `-su user:password`.
                if is_last_letter(word, option) && matches!(rule.how, How::Behind(_)) {
                    self.waiting = Some(rule.how);
                    return;
                }
                let Some(joined) = word.strip_prefix(option) else { continue };
                let value = start + option.len()..start + word.len();
                let is_letter = option.len() == 2;
                match rule.how {
                    _ if joined.starts_with('=') => return self.password(value.start + 1..value.end, rule.how),
                    How::Joined if joined.is_empty() => return,
                    _ if joined.is_empty() => {
                        self.waiting = Some(rule.how);
                        return;
                    }
                    How::Behind(sign) if is_letter || joined.starts_with(sign) => {
                        return self.password(value, rule.how);
                    }
                    How::NextOrJoined | How::Joined if is_letter => return self.password(value, rule.how),
                    _ => {}
                }
            }
        }
    }

    fn password(&mut self, span: Range<usize>, how: How) {
        let span = unquoted(self.text, span);
        let value = &self.text[span.clone()];
        let start = match how {
            How::Behind(sign) => match value.find(sign) {
                // In openssl, the password itself follows `pass:`; `env:` and `file:` name a place where it is.
                Some(at) if self.command == "openssl" && &value[..at] != "pass" => return,
                Some(at) => span.start + at + sign.len_utf8(),
                None => return,
            },
            How::Next | How::NextOrJoined | How::Joined => span.start,
        };
        let value = &self.text[start..span.end];
        if is_written_out(value) && !value.starts_with(['/', '-', '@', '&', '|']) {
            self.found.push(start..span.end);
        }
    }

    fn end_command(&mut self, piped: bool) {
        let is_batch = |word: &&str| word.starts_with('-') && !word.starts_with("--") && word.contains('b');
        if self.command == IN_BATCH
            && self.words.iter().any(is_batch)
            && self.plain.len() >= 2
            && let Some(last) = self.plain.pop()
        {
            self.password(last, How::Next);
        }
        // The last word may carry the quote that ends the text in which the command is quoted.
        let has = |wanted: &str| self.words.iter().any(|word| word.trim_end_matches(CLOSING) == wanted);
        let reads = READERS.iter().any(|(command, words)| {
            let is_called = has(command) || self.command == *command;
            is_called && (words.is_empty() || words.iter().any(|word| has(word)))
        });
        if let Some(written) = self.written.take().filter(|_| reads) {
            let has_user = self.words.contains(&"chpasswd");
            self.password(written, if has_user { How::Behind(':') } else { How::Next });
        }
        if piped && WRITERS.contains(&self.command) {
            self.written = self.plain.pop();
        }
        (self.command, self.waiting) = ("", None);
        self.words.clear();
        self.plain.clear();
    }
}

/// Returns the known command that a word calls, as in `/usr/bin/curl` or `$(curl`. None where it calls none.
fn known(word: &str) -> Option<&'static str> {
    let name = word.rsplit(['/', '(', '`', '\\']).next()?;
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let of_rules = RULES.iter().flat_map(|rule| rule.commands).copied();
    of_rules.chain([IN_BATCH]).chain(WRITERS).find(|known| *known == name)
}

fn is_last_letter(word: &str, option: &str) -> bool {
    let letters = |text: &str| text.len() > 2 && text[1..].bytes().all(|byte| byte.is_ascii_alphabetic());
    option.len() == 2 && letters(word) && word.starts_with('-') && word.ends_with(&option[1..])
}

enum ShellWord {
    Text(Range<usize>),
    /// The command ends. The flag is true where its output goes on to the next command.
    EndOfCommand(bool),
}

/// The most bytes within which the closing quote is looked for.
const LONGEST_QUOTED: usize = 512;

impl ShellWord {
    /// Reads the next word of a line and moves `at` behind it. Returns None at the end of the line.
    fn next(text: &str, at: &mut usize) -> Option<Self> {
        loop {
            let rest = &text[*at..];
            let escaped = rest.trim_start_matches('\\');
            if escaped.len() < rest.len() && escaped.starts_with('\n') {
                *at += rest.len() - escaped.len() + 1;
            } else if rest.starts_with([' ', '\t', ',', '[', ']']) {
                *at += 1;
            } else {
                break;
            }
        }
        let rest = &text[*at..];
        if rest.is_empty() || rest.starts_with(['\n', '\r']) {
            return None;
        }
        for (sign, piped) in [("||", false), ("&&", false), ("|", true), (";", false), ("<<<", true)] {
            if rest.starts_with(sign) {
                *at += sign.len();
                return Some(Self::EndOfCommand(piped));
            }
        }
        let start = *at;
        let mut inside = 0;
        while let Some(c) = rest[inside..].chars().next() {
            let here = &rest[inside..];
            if let Some(quoted) = quoted(here) {
                inside += quoted;
            } else if c.is_whitespace() || matches!(c, '|' | ';' | ',') {
                break;
            } else {
                inside += c.len_utf8();
            }
        }
        *at = start + inside.max(1);
        while !text.is_char_boundary(*at) {
            *at += 1;
        }
        Some(Self::Text(unquoted(text, start..*at)))
    }
}

/// Returns the length in bytes of the quoted part that a text begins with: `'…'`, `"…"`, `\"…\"`. None where it begins
/// with none.
fn quoted(text: &str) -> Option<usize> {
    let escape = if text.starts_with('\\') { 1 } else { 0 };
    let quote = text[escape..].chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let open = escape + 1;
    let closing = if escape == 0 { quote.to_string() } else { format!("\\{quote}") };
    let inside = up_to(&text[open..], LONGEST_QUOTED);
    let end = inside.find(&closing).filter(|end| !inside[..*end].contains('\n'))?;
    Some(open + end + closing.len())
}

/// Returns the span without the quotes around it, and without the rest of an array or of a substitution behind it.
fn unquoted(text: &str, span: Range<usize>) -> Range<usize> {
    let word = &text[span.clone()];
    let end = word.trim_end_matches([',', ')', '"', '\'', '`', '\\', ']']).len();
    let start = word[..end].len() - word[..end].trim_start_matches(['"', '\'', '`', '\\']).len();
    span.start + start..span.start + end
}
