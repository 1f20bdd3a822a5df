//! Markdown: a chat where speakers are named, else notes under headings.

use super::conversation::{Conversation, Turn, exchanges};
use super::fences::{FenceLine, Fences};
use super::{Exchange, Format, MAX_QUESTION_CHARS};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
    /// It is a program or a tool.
    Other,
}

const USERS: [&str; 26] = [
    "user",
    "human",
    "you",
    "me",
    "question",
    "q",
    "prompt",
    "frage",
    "nutzer",
    "nutzerin",
    "benutzer",
    "benutzerin",
    "usuario",
    "usuaria",
    "usuário",
    "utente",
    "gebruiker",
    "utilisateur",
    "utilisatrice",
    "pregunta",
    "domanda",
    "vraag",
    "пользователь",
    "użytkownik",
    "ユーザー",
    "用户",
];
const ASSISTANTS: [&str; 25] = [
    "assistant",
    "ai",
    "answer",
    "a",
    "claude",
    "chatgpt",
    "gpt",
    "bot",
    "model",
    "response",
    "gemini",
    "copilot",
    "codex",
    "antwort",
    "assistent",
    "assistentin",
    "asistente",
    "assistente",
    "respuesta",
    "risposta",
    "antwoord",
    "ассистент",
    "asystent",
    "アシスタント",
    "助手",
];
const OTHERS: [&str; 7] = ["system", "tool", "developer", "function", "thinking", "reasoning", "tools"];

/// Reads a text. None where it has neither speakers nor headings.
pub(super) fn read(text: &str) -> Option<(Format, Vec<Conversation>)> {
    let lines = lines(text);
    if let Some(chat) = chat(&lines) {
        return Some((Format::Chat, vec![chat]));
    }
    let notes = notes(&lines)?;
    Some((Format::Notes, vec![Conversation::of(notes)]))
}

/// Returns the lines of a text, and whether each is outside of fences. What stands between `---` at the start is about
/// the file.
fn lines(text: &str) -> Vec<(&str, bool)> {
    let mut fences = Fences::default();
    let all: Vec<&str> = text.lines().collect();
    let front = match all.first().map(|line| line.trim_end()) {
        Some("---") => all.iter().skip(1).position(|line| line.trim_end() == "---").map_or(0, |end| end + 2),
        _ => 0,
    };
    all.into_iter().skip(front).map(|line| (line, fences.next(line) == FenceLine::Outside)).collect()
}

fn chat(lines: &[(&str, bool)]) -> Option<Conversation> {
    let in_headings = |who: Speaker| {
        let named = |line: &str| heading(line).is_some() && speaker(line).is_some_and(|(speaker, _)| speaker == who);
        lines.iter().any(|(line, outside)| *outside && named(line))
    };
    // Otherwise a name at the start of a line is part of what somebody says.
    let headings_only = in_headings(Speaker::User) && in_headings(Speaker::Assistant);
    let mut turns: Vec<(Speaker, String)> = Vec::new();
    for (line, outside) in lines {
        let counts = *outside && (!headings_only || heading(line).is_some());
        match speaker(line).filter(|_| counts) {
            Some((speaker, rest)) => turns.push((speaker, rest.to_owned())),
            None => {
                if let Some((_, text)) = turns.last_mut() {
                    text.push('\n');
                    text.push_str(line);
                }
            }
        }
    }
    let speaks = |who: Speaker| turns.iter().any(|(speaker, _)| *speaker == who);
    if !speaks(Speaker::User) || !speaks(Speaker::Assistant) {
        return None;
    }
    let mut chat = Conversation::default();
    for (speaker, text) in turns {
        let text = text.trim().trim_end_matches("\n---").trim().to_owned();
        match speaker {
            Speaker::User => chat.take(Turn::Question(text), None, None),
            Speaker::Assistant => chat.take(Turn::Answer(text), None, None),
            Speaker::Other => {}
        }
    }
    Some(chat)
}

/// Returns the speaker that a line names, and what the speaker says on the same line. A speaker is named by a heading,
/// or by a name with a colon at the start of a line, in bold or not.
fn speaker(line: &str) -> Option<(Speaker, &str)> {
    let is_heading = heading(line).is_some();
    let text = line.trim_start_matches('#').trim_start_matches(|c: char| !c.is_alphanumeric());
    // A list, a quotation and an indented line name nobody.
    if !is_heading && line.starts_with(['-', '+', '>', '|', ' ', '\t', '`', '[', '(']) {
        return None;
    }
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    let name = name.to_lowercase();
    let speaker = [(&USERS[..], Speaker::User), (&ASSISTANTS[..], Speaker::Assistant), (&OTHERS[..], Speaker::Other)]
        .into_iter()
        .find_map(|(names, speaker)| names.contains(&name.as_str()).then_some(speaker))?;
    let after = after.trim_start_matches(['*', '_']);
    let after = after.strip_prefix(" said").unwrap_or(after).trim_start_matches(['*', '_']);
    // That may be a time, or a model's name.
    let after = match after.trim_start().strip_prefix('(') {
        Some(inside) => inside.split_once(')').map_or(after, |(_, after)| after),
        None => after,
    };
    let after = after.trim_start_matches(['*', '_']).trim_start();
    match after.strip_prefix([':', '：']) {
        Some(said) => Some((speaker, said.trim_start_matches(['*', '_']).trim())),
        None if is_heading && (after.is_empty() || !after.starts_with(char::is_alphabetic)) => Some((speaker, "")),
        None => None,
    }
}

/// Returns the level and the text of a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.chars().take_while(|c| *c == '#').count();
    let text = line.get(level..).filter(|text| (1..=6).contains(&level) && text.starts_with([' ', '\t']))?;
    let text = text.trim().trim_end_matches('#').trim();
    (!text.is_empty()).then_some((level, text))
}

/// Returns the notes: every heading with a text of its own below it. None without headings.
fn notes(lines: &[(&str, bool)]) -> Option<Vec<Exchange>> {
    let mut path: Vec<(usize, String)> = Vec::new();
    let (mut notes, mut body) = (Vec::new(), String::new());
    let mut skip = false;
    for (n, (line, outside)) in lines.iter().enumerate() {
        if std::mem::take(&mut skip) {
            continue;
        }
        let below = lines.get(n + 1).filter(|(_, outside)| *outside).map(|(below, _)| *below);
        let underlined = below.and_then(|below| underlined(line, below, n == 0 || lines[n - 1].0.trim().is_empty()));
        match heading(line).or(underlined).filter(|_| *outside) {
            Some((level, text)) => {
                skip = heading(line).is_none();
                close(&path, &mut body, &mut notes);
                path.retain(|(above, _)| *above < level);
                path.push((level, text.to_owned()));
            }
            None => {
                body.push_str(line);
                body.push('\n');
            }
        }
    }
    close(&path, &mut body, &mut notes);
    (!path.is_empty()).then_some(notes)
}

/// Returns a heading that is underlined with `=` or `-`.
fn underlined<'a>(line: &'a str, below: &str, free_above: bool) -> Option<(usize, &'a str)> {
    let (line, below) = (line.trim(), below.trim_end());
    let is_text = free_above && line.chars().next().is_some_and(char::is_alphanumeric);
    let all = |sign: char| below.len() >= 3 && below.chars().all(|c| c == sign);
    match () {
        () if is_text && all('=') => Some((1, line)),
        () if is_text && all('-') => Some((2, line)),
        () => None,
    }
}

fn close(path: &[(usize, String)], body: &mut String, notes: &mut Vec<Exchange>) {
    let answer = std::mem::take(body);
    if path.is_empty() || answer.trim().is_empty() {
        return;
    }
    let headings: Vec<&str> = path.iter().map(|(_, text)| text.as_str()).collect();
    let question: String = headings.join(" > ").chars().take(MAX_QUESTION_CHARS).collect();
    notes.extend(exchanges(&question, &answer, None));
}
