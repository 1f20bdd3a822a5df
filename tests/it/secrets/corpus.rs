//! The corpus of secrets, which the rules are tested with as well, and texts made of it.

/// A line of the corpus: a text, and the secret in it.
pub(crate) struct Planted {
    pub(crate) text: String,
    pub(crate) secret: String,
}

/// Every line, with its secret between « and ».
fn lines() -> impl Iterator<Item = String> {
    let corpus = include_str!("../../../domain/src/safety/secrets/corpus.txt");
    let lines = corpus.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" | "));
    lines.map(|(_, line)| {
        let text = line.replace('·', "").replace("\\\\", "\0").replace("\\n", "\n").replace("\\r", "\r");
        text.replace('\0', "\\")
    })
}

pub(crate) fn corpus() -> Vec<Planted> {
    let planted = lines().filter_map(|text| {
        let (_, rest) = text.split_once('«')?;
        let (secret, _) = rest.split_once('»')?;
        Some(Planted { secret: secret.to_owned(), text: text.replace(['«', '»'], "") })
    });
    planted.collect()
}

/// Returns texts that only look like a secret.
pub(super) fn lookalikes() -> Vec<String> {
    lines().filter(|text| !text.contains('«') && !text.contains("[REDACTED:")).collect()
}

/// Returns all of the corpus in one text.
pub(super) fn everything(corpus: &[Planted]) -> String {
    corpus.iter().map(|planted| planted.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// A question and its answer that are worth keeping.
pub(super) fn exchange(part: &[Planted]) -> [String; 2] {
    let answer = format!(
        "Read it at run time, because what stands in the code ends up in the history. Use the environment:\n\n```sh\n{}\n\
         ```\n\nThen every deployment has a value of its own, and none of them is in the repository.",
        everything(part)
    );
    [format!("How do I hand this to the client?\n\n{}", part[0].text), answer]
}
