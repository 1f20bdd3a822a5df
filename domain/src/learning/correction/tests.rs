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
    answered("I deploy it tonight. How do I read the Spark logs?", "Run `yarn logs` with the id of the application.")
}

/// Returns for each exchange whether it is taken back.
fn taken_back(exchanges: &[Exchange]) -> Vec<bool> {
    let objections = Objections::of(exchanges, vec![false; exchanges.len()]);
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

fn prices() -> Exchange {
    answered("How should we store prices?", "Store prices as double, because it is the fastest type.")
}

fn dates() -> Exchange {
    answered("Ok. And how should we format dates in the API?", "Use RFC 3339 in UTC for dates.")
}

#[rstest]
#[case("Good. By the way, storing prices as double was a mistake, refunds are off by a cent.")]
#[case("Thanks, that works. Storing prices as double was a mistake.")]
#[case("Using double for prices turned out to be a bad idea.")]
fn what_is_called_a_mistake_takes_back_the_earlier_answer_that_it_names(#[case] message: &str) {
    let exchanges = [prices(), dates(), answered(message, "Sorry. Store prices as integer cents.")];
    let objections = Objections::of(&exchanges, vec![false; exchanges.len()]);
    assert_eq!(taken_back(&exchanges), [true, false, false], "{message}");
    assert_eq!((objections.corrected(2), objections.asked(2)), (Some(0), 0));
    let unanswered = Exchange { said_next: Some(message.into()), ..dates() };
    assert_eq!(taken_back(&[prices(), unanswered]), [true, false], "{message}");
}

#[rstest]
#[case("Speichere Preise als double.", "Super. Preise als double zu speichern war ein Fehler.")]
#[case("Guarda los precios como double.", "Gracias. Guardar los precios como double fue un error.")]
#[case("Salva i prezzi come double.", "Perfetto. Usare double per i prezzi è stato un errore.")]
#[case("Sla prijzen op als double.", "Bedankt. De prijzen als double opslaan was een vergissing.")]
fn a_mistake_is_known_in_other_languages(#[case] answer: &str, #[case] message: &str) {
    let exchanges = [answered("How should we store money?", answer), dates(), answered(message, "a")];
    assert_eq!(taken_back(&exchanges), [true, false, false], "{message}");
}

#[test]
fn what_is_called_a_mistake_is_the_latest_answer_to_what_it_names() {
    let cents = answered("That is wrong, refunds are off by a cent.", "Store prices as integer cents.");
    let message = "Storing prices as integer cents was a mistake.";
    assert_eq!(taken_back(&[prices(), cents, dates(), answered(message, "a")]), [true, true, false, false]);
    for of_nothing in ["Great. Buying that car was a mistake.", "Great. Was storing prices as double a mistake?"] {
        assert_eq!(taken_back(&[prices(), dates(), answered(of_nothing, "a")]), [false; 3], "{of_nothing}");
    }
    let of_last = answered("Using UTC for dates was a mistake.", "a");
    assert_eq!(taken_back(&[prices(), dates(), of_last]), [false, true, false]);
}

#[rstest]
#[case("Actually, I was wrong: ls -h prints readable sizes. Use ls -a.")]
#[case("Correction: use ls -a, because a stands for all.")]
#[case("My previous answer was wrong. Use ls -a.")]
#[case("Ich habe mich geirrt: -h gibt lesbare Größen aus. Nimm ls -a.")]
#[case("Me equivoqué: usa ls -a.")]
#[case("Mi sono sbagliato: usa ls -a.")]
#[case("Ik heb me vergist: gebruik ls -a.")]
#[case("訂正します。ls -aを使ってください。")]
fn an_answer_that_begins_with_its_own_correction_takes_back_the_one_before(#[case] answer: &str) {
    let first = answered("How do I list hidden files?", "Use ls -h to list hidden files.");
    let exchanges = [first.clone(), answered("ok", answer)];
    assert_eq!(
        (taken_back(&exchanges), Objections::of(&exchanges, vec![false; exchanges.len()]).corrected(1)),
        (vec![true, false], Some(0))
    );
    assert_eq!(said_against(&exchanges[1]).chars().next(), answer.chars().next());
    let with_a_question = [first, answered("Are you sure that -h lists hidden files?", answer)];
    let objections = Objections::of(&with_a_question, vec![false; with_a_question.len()]);
    assert_eq!((taken_back(&with_a_question), objections.corrected(1)), (vec![true, false], None));
}

#[test]
fn an_answer_that_corrects_nothing_takes_nothing_back() {
    for answer in ["Use RFC 3339. If I was wrong about the zone, tell me.", "Nothing is wrong with it, use it."] {
        assert_eq!(taken_back(&[prices(), answered("And the dates?", answer)]), [false; 2], "{answer}");
    }
}

#[test]
fn who_went_along_with_an_answer_objects_to_it() {
    let thanks = answered("Thanks, I'll try it tonight.", "You are welcome.");
    let objection = answered("That was wrong, the partitions are skewed.", "Then repartition.");
    let exchanges = [memory(), thanks, objection];
    let objections = Objections::of(&exchanges, vec![false; exchanges.len()]);
    assert_eq!(taken_back(&exchanges), [true, true, false]);
    assert_eq!((objections.corrected(2), objections.asked(2)), (Some(0), 0), "it answers the first question");
    let praise = answered("Thanks, that worked!", "Fine.");
    assert_eq!(taken_back(&[memory(), praise, answered("How do I read the logs?", "a")]), [false; 3]);
}

#[test]
fn an_objection_that_nobody_answered_counts() {
    let with = |said: &str| [Exchange { said_next: Some(said.into()), ..memory() }];
    assert_eq!(taken_back(&with("Nope, still broken.")), [true]);
    for said in ["Thanks, that worked.", "How do I read the logs?", "Now the login page does not work on a phone?"] {
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
