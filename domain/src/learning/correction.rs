//! Corrections: whether what somebody says later takes back an answer, because it did not work or was wrong. That is
//! the answer before it, those that were gone along with on the way, or the one before where only that one is named.
//! The first sentences decide. A question, a condition and a request for something else take nothing back. What surely
//! speaks of the answer ("that did not work") takes it back in each of them. What may speak of something else ("the
//! same error") does so until the message turns to something else, or behind a word such as "but". Praise behind an
//! objection answers it. Praise before it does where the objection is not sure and no "but" stands between them. Thanks
//! alone decide nothing, but a "no" with thanks takes nothing back. Other messages let the answer stand.

mod families;
mod phrases;
mod standing;

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::{Match, Regex};

use super::capture::sentences;
use super::transcript::Exchange;
use crate::retrieval::standalone::{only_carries_on, stands_alone};
use crate::text::terms;

pub use standing::{TakenBackExchange, left_standing};

/// The number of sentences that are read.
const SENTENCES: usize = 3;
/// A sentence is read up to this many characters.
const LOOKED_AT_CHARS: usize = 400;
/// The number of terms of an earlier question that an objection to its answer names.
const TELLING: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ObjectionReading {
    TakesBack,
    Stands,
    /// It decides nothing, and the next sentence still speaks of the answer.
    GoesOn,
    /// It decides nothing, and the next sentence may speak of something else.
    Turns,
}

/// The objections of a session: which answers they take back, and which exchanges answer them.
pub(super) struct Objections {
    taken_back: Vec<bool>,
    /// For each exchange, the one whose answer its question takes back.
    corrected: Vec<Option<usize>>,
}

impl Objections {
    /// Finds the objections among what is said behind each exchange, whether somebody answered it or not.
    pub(super) fn of(exchanges: &[Exchange]) -> Self {
        let none = vec![None; exchanges.len()];
        let mut objections = Self { taken_back: vec![false; exchanges.len()], corrected: none };
        for (n, exchange) in exchanges.iter().enumerate() {
            if let Some(last) = before(exchanges, n).filter(|_| is_correction(&exchange.question)) {
                objections.corrected[n] = Some(objections.note(exchanges, last, &exchange.question));
            }
            if let Some(said_next) = exchange.said_next.as_deref().filter(|said| is_correction(said)) {
                objections.note(exchanges, n, said_next);
            }
        }
        objections
    }

    /// Notes which answers an objection takes back that was said behind the exchange at `last`. Returns the exchange
    /// that it objects to.
    fn note(&mut self, exchanges: &[Exchange], last: usize, objection: &str) -> usize {
        // An answer that puts another right answers the same question.
        let mut wrong = if self.corrected[last].is_some() { last } else { objected_to(exchanges, last, objection) };
        self.taken_back[wrong] = true;
        // Who only went along with an answer objects to that answer.
        while let Some(answer) = before(exchanges, wrong).filter(|_| goes_along(&exchanges[wrong].question)) {
            wrong = answer;
            self.taken_back[wrong] = true;
        }
        wrong
    }

    /// Tells whether somebody may have found the answer of the exchange at `n` wrong: what was said next neither asks,
    /// nor praises, nor goes along with it.
    pub(super) fn is_in_doubt(exchanges: &[Exchange], n: usize) -> bool {
        let next = exchanges.get(n + 1).filter(|next| next.session == exchanges[n].session);
        let said = exchanges[n].said_next.as_deref().or(next.map(|next| next.question.as_str()));
        said.is_some_and(|said| !lets_stand(said))
    }

    /// Tells whether an objection takes back the answer of the exchange at `n`.
    pub(super) fn has_taken_back(&self, n: usize) -> bool {
        self.taken_back[n]
    }

    /// Returns the exchange whose answer the question at `n` takes back, where it does.
    pub(super) fn corrected(&self, n: usize) -> Option<usize> {
        self.corrected[n]
    }

    /// Returns the exchange that asked what the one at `n` goes on from. None where that one asks something itself, or
    /// says by itself what it is about.
    pub(super) fn goes_on_from(&self, exchanges: &[Exchange], n: usize) -> Option<usize> {
        let said = &exchanges[n].question;
        let says_little = !said.contains(['?', '？']) && !stands_alone(said);
        before(exchanges, n).filter(|_| says_little).map(|before| self.asked(before))
    }

    /// Returns the exchange that asked what the one at `n` answers: where that one takes back an answer, the first
    /// before it that does not.
    pub(super) fn asked(&self, n: usize) -> usize {
        // Each step goes to an earlier exchange, so the recursion ends.
        self.corrected[n].map_or(n, |before| self.asked(before))
    }
}

/// Returns the exchange before this one, where it is of the same session.
fn before(exchanges: &[Exchange], n: usize) -> Option<usize> {
    n.checked_sub(1).filter(|before| exchanges[*before].session == exchanges[n].session)
}

/// Returns the exchange that an objection behind the exchange at `last` is about: that one, or the one before it where
/// the objection names what was asked there, and nothing of what was asked last.
fn objected_to(exchanges: &[Exchange], last: usize, objection: &str) -> usize {
    // A question that does not say by itself what it is about goes on from the one before it.
    let Some(earlier) = before(exchanges, last).filter(|_| stands_alone(&exchanges[last].question)) else {
        return last;
    };
    let said: HashSet<String> = telling_terms(objection).collect();
    let named = |asked: usize, other: usize| {
        let Exchange { question, answer, .. } = &exchanges[other];
        let elsewhere: HashSet<String> = telling_terms(question).chain(telling_terms(answer)).collect();
        let asked: HashSet<String> = telling_terms(&exchanges[asked].question).collect();
        asked.iter().filter(|term| said.contains(*term) && !elsewhere.contains(*term)).count()
    };
    if named(earlier, last) >= TELLING && named(last, earlier) == 0 { earlier } else { last }
}

/// Returns the terms of a text that may say what it is about.
fn telling_terms(text: &str) -> impl Iterator<Item = String> {
    let is_telling = |term: &String| term.chars().count() > 2 && !phrases::SAYS_LITTLE.contains(&term.as_str());
    terms::query(text).into_iter().map(|of| of.term).filter(is_telling)
}

/// Tells whether a message asks nothing and only goes along with what was said, such as `ok, I'll try that`.
fn goes_along(message: &str) -> bool {
    !message.contains(['?', '？']) && !phrases::ASKS_FOR_MORE.is_match(message) && {
        let rest = phrases::GOES_ALONG.replace_all(message, " ");
        rest.trim_matches(|c: char| !c.is_alphanumeric()).is_empty() || only_carries_on(&rest)
    }
}

/// Tells whether a message that takes nothing back surely finds nothing wrong with the answer before it.
fn lets_stand(message: &str) -> bool {
    let praises = |sentence: &String| says(&phrases::PRAISE, sentence, |_| true);
    message.contains(['?', '？'])
        || goes_along(message)
        || phrases::NO_WITH_THANKS.is_match(message)
        || read_sentences(message).iter().any(praises)
}

fn is_correction(message: &str) -> bool {
    let mut speaks_of_answer = true;
    for sentence in read_sentences(message) {
        match read(&sentence, speaks_of_answer) {
            ObjectionReading::TakesBack => return true,
            ObjectionReading::Stands => return false,
            ObjectionReading::GoesOn => {}
            ObjectionReading::Turns => speaks_of_answer = false,
        }
    }
    false
}

/// Returns the sentences that decide. A "no" on its own is read together with the sentence that follows it.
fn read_sentences(message: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for sentence in message.lines().flat_map(sentences).take(SENTENCES) {
        match found.last_mut().filter(|last| phrases::BARE_NO.is_match(last)) {
            Some(last) => *last = format!("{last} {sentence}"),
            None => found.push(sentence),
        }
    }
    found
}

fn read(sentence: &str, speaks_of_answer: bool) -> ObjectionReading {
    if let Some(no) = phrases::NO_WITH_THANKS.find(sentence) {
        let takes_back = read(&sentence[no.end()..], speaks_of_answer) == ObjectionReading::TakesBack;
        return if takes_back { ObjectionReading::TakesBack } else { ObjectionReading::Stands };
    }
    if phrases::NO_OBJECTION.is_match(sentence) {
        return ObjectionReading::Stands;
    }
    let end = sentence.char_indices().nth(LOOKED_AT_CHARS).map_or(sentence.len(), |(at, _)| at);
    let sentence = &sentence[..end];
    let Some((objection, is_sure)) = objection(sentence, speaks_of_answer) else {
        return match () {
            () if says(&phrases::PRAISE, sentence, |_| true) => ObjectionReading::Stands,
            () if speaks_of_answer && phrases::LEADS_ON.is_match(sentence) => ObjectionReading::GoesOn,
            () => ObjectionReading::Turns,
        };
    };
    let before = &sentence[..objection.start()];
    if phrases::CONDITION.is_match(before) {
        return ObjectionReading::Turns;
    }
    let turned = is_sure || phrases::CONTRAST.is_match(before);
    let counts =
        |praise: &Match<'_>| praise.start() >= objection.end() || (!turned && praise.end() <= objection.start());
    let is_content = phrases::CONTENT.find_iter(sentence).any(|content| content.end() > objection.end());
    let is_answered = says(&phrases::PRAISE, sentence, counts)
        || (!is_sure && (is_content || says(&phrases::OVER, sentence, counts)));
    if is_answered { ObjectionReading::Stands } else { ObjectionReading::TakesBack }
}

/// Tells whether a sentence says something that counts, and does not deny it.
fn says(pattern: &Regex, sentence: &str, counts: impl Fn(&Match<'_>) -> bool) -> bool {
    let is_denied = |found: &Match<'_>| {
        phrases::DENIED_BEFORE.is_match(&sentence[..found.start()])
            || phrases::DENIED_BEHIND.is_match(&sentence[found.end()..])
    };
    pattern.find_iter(sentence).any(|found| counts(&found) && !is_denied(&found))
}

/// Finds the last objection of a sentence, and tells whether it is surely one to the answer. An objection that may be
/// to something else counts where the sentence speaks of the answer, or behind a word such as "but".
fn objection(sentence: &str, speaks_of_answer: bool) -> Option<(Match<'_>, bool)> {
    let last = |pattern: &'static LazyLock<Regex>| pattern.find_iter(sentence).last();
    let counts = |found: &Match<'_>| speaks_of_answer || phrases::CONTRAST.is_match(&sentence[..found.start()]);
    let sure = last(&phrases::SURE_OBJECTION).map(|found| (found, true));
    sure.or_else(|| last(&phrases::OBJECTION).filter(counts).map(|found| (found, false)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn answered(question: &str, answer: &str) -> Exchange {
        let (question, answer) = (question.into(), answer.into());
        Exchange { question, answer, session: None, asked_first: None, said_next: None, at: None }
    }

    fn memory() -> Exchange {
        answered("How can I make the nightly Spark job stop running out of memory?", "Increase spark.executor.memory.")
    }

    fn logs() -> Exchange {
        answered(
            "I deploy it tonight. How do I read the Spark logs?",
            "Run `yarn logs` with the id of the application.",
        )
    }

    /// Returns for each exchange whether it is taken back.
    fn taken_back(exchanges: &[Exchange]) -> Vec<bool> {
        let objections = Objections::of(exchanges);
        (0..exchanges.len()).map(|n| objections.has_taken_back(n)).collect()
    }

    #[test]
    fn an_objection_takes_back_what_it_names_and_not_what_was_said_last() {
        let out_of_memory = "The Spark job ran out of memory again, so the increase did not help.";
        let later = answered(out_of_memory, "Then the partitions are skewed.");
        assert_eq!(taken_back(&[memory(), logs(), later]), [true, false, false]);
        let unanswered = Exchange { said_next: Some(out_of_memory.into()), ..logs() };
        assert_eq!(taken_back(&[memory(), unanswered]), [true, false]);
        for of_last in ["That did not work.", "The logs of the job are empty, that did not work."] {
            assert_eq!(taken_back(&[memory(), logs(), answered(of_last, "a")]), [false, true, false], "{of_last}");
        }
        let again = answered("Nope, still broken.", "Then the partitions are skewed.");
        let repeated = answered(out_of_memory, "Then use a larger machine.");
        assert_eq!(taken_back(&[memory(), again, repeated]), [true, true, false], "both answer the same question");
        let follow_up = answered("And the logs?", "Run `yarn logs` with the id of the application.");
        let objection = answered("That is wrong: the Spark job ran out of memory.", "a");
        assert_eq!(taken_back(&[memory(), follow_up, objection]), [false, true, false], "it goes on from the question");
        let of_another = Exchange { session: Some("another".into()), ..logs() };
        assert_eq!(taken_back(&[memory(), of_another, answered(out_of_memory, "a")]), [false; 3]);
    }

    #[test]
    fn who_went_along_with_an_answer_objects_to_it() {
        let thanks = answered("Thanks, I'll try it tonight.", "You are welcome.");
        let objection = answered("That was wrong, the partitions are skewed.", "Then repartition.");
        let exchanges = [memory(), thanks, objection];
        let objections = Objections::of(&exchanges);
        assert_eq!(taken_back(&exchanges), [true, true, false]);
        assert_eq!((objections.corrected(2), objections.asked(2)), (Some(0), 0), "it answers the first question");
        let praise = answered("Thanks, that worked!", "Fine.");
        assert_eq!(taken_back(&[memory(), praise, answered("How do I read the logs?", "a")]), [false; 3]);
    }

    #[test]
    fn an_objection_that_nobody_answered_counts() {
        let with = |said: &str| [Exchange { said_next: Some(said.into()), ..memory() }];
        assert_eq!(taken_back(&with("Nope, still broken.")), [true]);
        for said in ["Thanks, that worked.", "How do I read the logs?", "Now the login page does not work on a phone?"]
        {
            assert_eq!(taken_back(&with(said)), [false], "{said}");
        }
    }

    #[rstest]
    #[case("Thanks, that works", false)]
    #[case("ok, thanks", false)]
    #[case("How do I read the logs?", false)]
    #[case("The rows of March are there twice.", true)]
    #[case("Write the release notes.", true)]
    fn an_answer_is_in_doubt_where_what_was_said_next_does_not_let_it_stand(#[case] next: &str, #[case] doubt: bool) {
        assert_eq!(Objections::is_in_doubt(&[memory(), answered(next, "a")], 0), doubt, "{next}");
        let unanswered = Exchange { said_next: Some(next.into()), ..memory() };
        assert_eq!(Objections::is_in_doubt(&[unanswered], 0), doubt, "{next}");
        let of_another = Exchange { session: Some("another".into()), ..answered(next, "a") };
        assert!(!Objections::is_in_doubt(&[memory(), of_another], 0));
    }

    #[rstest]
    #[case("ok, thanks", true)]
    #[case("Thank you so much! I will try that tomorrow.", true)]
    #[case("Okay, merged.", true)]
    #[case("Great, please do it.", true)]
    #[case("Danke, ich probiere es gleich aus.", true)]
    #[case("Merci, je vais essayer ça.", true)]
    #[case("Gracias, lo probaré.", true)]
    #[case("Спасибо, попробую.", true)]
    #[case("ありがとうございます。試してみます。", true)]
    #[case("谢谢，我试试。", true)]
    #[case("Thanks. Rename the file.", false)]
    #[case("continue", false)]
    #[case("Okay, next step.", false)]
    #[case("Thanks, does it work with two tenants?", false)]
    #[case("Now the second part: the login page.", false)]
    #[case("Danke! Jetzt die Anmeldung.", false)]
    fn what_goes_along_with_an_answer_asks_nothing(#[case] message: &str, #[case] along: bool) {
        assert_eq!(goes_along(message), along, "{message}");
    }

    #[rstest]
    #[case("No, that is not it. The port is taken.")]
    #[case("It still fails with the same error:\n\nE0382")]
    #[case("That didn't work, the lock is still held")]
    #[case("that's wrong, the index starts at one")]
    #[case("Please revert that.")]
    #[case("Nope, still broken.")]
    #[case("Thanks, but that did not work.")]
    #[case("Thanks. That did not work.")]
    #[case("Thanks, but the test does not pass.")]
    #[case("That doesn't work when the file has two tenants.")]
    #[case("I tried it. It still fails with the same error.")]
    #[case("I tried that. The test fails, the build does not compile.")]
    #[case("Hm. Still the same error.")]
    #[case("Still the same error.")]
    #[case("No luck, it fails if two tenants are in one file.")]
    #[case("It worked on my machine, but it still fails in CI.")]
    #[case("Great idea, but that doesn’t compile.")]
    #[case("That was wrong.")]
    #[case("Sorry, this is incorrect.")]
    #[case("I lost all my changes!!")]
    #[case("Wait, that deleted my work.")]
    #[case("I don't think that works.")]
    #[case("After your change it still fails with the same error.")]
    #[case("After restarting the server it still fails.")]
    #[case("No, thanks, but that did not work.")]
    #[case("No. The index starts at one.")]
    #[case("Thanks. It still fails with the same error.")]
    #[case("It is not fixed, the same error comes.")]
    #[case("It got worse.")]
    #[case("Actually, that made it slower.")]
    #[case("Hmm, the workers still run out of connections.")]
    #[case("Still nothing.")]
    #[case("The error is back.")]
    #[case("This brought down the database in staging.")]
    #[case("You misunderstood: the rows are skipped, not the files.")]
    #[case("I don't think that's the cause.")]
    #[case("Now I get FATAL: too many connections")]
    #[case("That setting does not exist in our version.")]
    #[case("We can't restart it, do it differently.")]
    #[case("Use a queue instead of the lock.")]
    fn what_takes_an_answer_back(#[case] message: &str) {
        assert!(is_correction(message), "{message}");
    }

    #[rstest]
    #[case("Das funktioniert leider nicht, der Test ist rot")]
    #[case("Danke, aber das hat nicht geholfen.")]
    #[case("Hm. Immer noch derselbe Fehler.")]
    #[case("Ça ne marche pas non plus")]
    #[case("Merci, mais ça n'a pas marché.")]
    #[case("No funciona, sigue fallando")]
    #[case("Gracias, pero no funcionó.")]
    #[case("Non funziona, stesso errore di prima")]
    #[case("Grazie, ma non ha funzionato.")]
    #[case("Dat werkt niet, nog steeds dezelfde fout")]
    #[case("Bedankt, maar dat heeft niet geholpen.")]
    #[case("Obrigado, mas não funcionou.")]
    #[case("Isso está errado.")]
    #[case("Ainda dá o mesmo erro.")]
    #[case("Спасибо, но это не помогло.")]
    #[case("Не работает, та же ошибка.")]
    #[case("Это неправильно.")]
    #[case("Dzięki, ale to nie pomogło.")]
    #[case("Nadal ten sam błąd.")]
    #[case("To jest błędne.")]
    #[case("それは間違っています。")]
    #[case("ありがとう、でも動きませんでした。")]
    #[case("試しました。まだ同じエラーが出ます。")]
    #[case("谢谢，但是没有用。")]
    #[case("不对，还是报错。")]
    #[case("我试了。仍然是同样的错误。")]
    fn what_takes_an_answer_back_in_other_languages(#[case] message: &str) {
        assert!(is_correction(message), "{message}");
    }

    #[rstest]
    #[case("Thanks, that worked. How do I add a second replica?")]
    #[case("Now explain why the borrow checker complains here.")]
    #[case("Nothing else to do? Then let's write the notes.")]
    #[case("How do I know that the cache is not stale?")]
    #[case("What is the difference between Arc and Rc?")]
    #[case("Great, it no longer fails! Now the second part.")]
    #[case("No problem with that. How do I add an index?")]
    #[case("No, thanks.")]
    #[case("No, that's all for today.")]
    #[case("Non-blocking sockets in tokio: how are they closed?")]
    #[case("What happens if it fails in CI and not here?")]
    #[case("If it fails, what do I do?")]
    #[case("If it fails, revert that.")]
    #[case("Tell me when it still fails on the server.")]
    #[case("Thanks, works. How do I revert this migration later?")]
    #[case("Perfect. Now the login page does not work on a phone.")]
    #[case("Perfect, now the login page does not work on a phone.")]
    #[case("Thanks! Now the login page does not work on a phone.")]
    #[case("It did not work at first, but now it works.")]
    #[case("It still isn't clear to me why the lock is held.")]
    #[case("Thanks, I don't get the same error any more.")]
    #[case("I am writing the importer now. It fails with a KeyError for the column.")]
    #[case("Danke! Und wie geht es mit zwei Replikaten?")]
    #[case("Super, danke. Jetzt die Anmeldung.")]
    #[case("Merci, c'est parfait.")]
    #[case("Obrigado, funcionou. E como faço isso com dois?")]
    #[case("Спасибо, всё работает. Как добавить индекс?")]
    #[case("Dzięki, działa. Jak dodać indeks?")]
    #[case("ありがとう、動きました。次はどうすればいいですか。")]
    #[case("動かない場合はどうすればいいですか。")]
    #[case("谢谢，这样就不错了。")]
    #[case("如果还是报错怎么办？")]
    fn what_goes_on(#[case] message: &str) {
        assert!(!is_correction(message), "{message}");
    }

    #[rstest]
    #[case("Nein, danke.")]
    #[case("Non, merci.")]
    #[case("No, gracias.")]
    #[case("Нет, спасибо.")]
    #[case("いいえ、大丈夫です。")]
    #[case("No, all good, thanks.")]
    #[case("No. That works.")]
    #[case("Thanks, no compile errors now.")]
    #[case("Thanks, the same error is gone.")]
    #[case("Danke, derselbe Fehler kommt nicht mehr.")]
    #[case("Merci, je n'ai plus la même erreur.")]
    #[case("Gracias, ya no sale el mismo error.")]
    #[case("ありがとう、同じエラーは出なくなりました。")]
    #[case("Thanks, it deleted all merged branches.")]
    #[case("Obrigado. Continua com o próximo passo.")]
    #[case("Thanks! Now I have the same problem in the other module.")]
    #[case("Thanks, that solved it. The linter still fails on the generated files.")]
    #[case("Great, that also fixed the same error in the other job.")]
    #[case("Thanks. Add a down migration, so that we can revert this later.")]
    #[case("I don't think that matters for us. Go on with the tests.")]
    #[case("Ich habe immer noch eine Frage zur Migration.")]
    #[case("Ainda não testei, mas obrigado.")]
    #[case("No, grazie.")]
    #[case("Não, obrigado.")]
    #[case("Nee, bedankt.")]
    #[case("Nie, dziękuję.")]
    #[case("不用了，谢谢。")]
    #[case("Once it fails, write the row to the log.")]
    #[case("Add a test for the same error in the parser.")]
    #[case("Thanks, that works")]
    #[case("Thanks! Now I get a KeyError in the next step.")]
    #[case("Now I get it.")]
    #[case("I don't know the reason for the lock.")]
    #[case("I am still reading it.")]
    #[case("What do I do if it still hangs?")]
    #[case("Great, it got faster and nothing is missing.")]
    fn what_is_no_objection_though_it_has_the_words_of_one(#[case] message: &str) {
        assert!(!is_correction(message), "{message}");
    }
}
