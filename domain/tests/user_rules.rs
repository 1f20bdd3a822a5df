//! Rules that users state in their messages, and what is none, measured. The set is in tests/data: half of it was looked
//! at while the rules were made.

#![allow(clippy::unwrap_used, reason = "helpers of tests are outside the functions that clippy knows as tests")]

use reasoning_bank_domain::learning::capture::rule_of;
use reasoning_bank_domain::learning::transcript::Exchange;
use rstest::rstest;
use serde::Deserialize;

const MESSAGES: &str = include_str!("../../tests/data/standing_rules.jsonl");

#[derive(Deserialize)]
struct Message {
    set: String,
    rule: bool,
    text: String,
}

fn states_rule(message: &str) -> bool {
    let exchange = Exchange {
        question: message.into(),
        answer: String::new(),
        session: None,
        asked_first: None,
        said_next: None,
        at: None,
    };
    rule_of(&exchange).is_some()
}

/// Returns the messages of a set that are told wrongly, and the number of all of the kind.
fn wrong(set: &str, rule: bool) -> (Vec<String>, usize) {
    let messages: Vec<Message> = MESSAGES.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_kind: Vec<&Message> = messages.iter().filter(|message| message.set == set && message.rule == rule).collect();
    let told_wrongly = of_kind.iter().filter(|message| states_rule(&message.text) != rule);
    (told_wrongly.map(|message| message.text.clone()).collect(), of_kind.len())
}

#[rstest]
#[case("first", 15, 0)]
#[case("heldout", 15, 2)]
#[case("second", 19, 5)]
fn rules_of_users_are_known(#[case] set: &str, #[case] least: usize, #[case] most_missed: usize) {
    let (missed, all) = wrong(set, true);
    assert!(all >= least && missed.len() <= most_missed, "{} of {all} are missed: {missed:#?}", missed.len());
}

#[rstest]
fn what_is_said_of_this_once_is_no_rule(#[values("first", "heldout", "second")] set: &str) {
    let (taken, all) = wrong(set, false);
    assert!(all >= 15 && taken.is_empty(), "{} of {all} are taken for rules: {taken:#?}", taken.len());
}

/// Returns the messages of a list, one a line, that are told otherwise than `rule` says.
fn told_wrongly(messages: &str, rule: bool) -> Vec<&str> {
    let messages = messages.lines().map(str::trim).filter(|line| !line.is_empty());
    messages.filter(|message| states_rule(message) != rule).collect()
}

const OF_THIS_ONCE: &str = "
    For this task only, never touch the tests.
    Until the release is out, never merge into main.
    Never merge into main until the release is out.
    In this PR, always use the old client.
    Never deploy during the freeze.
    Always rebase this week, please.
    Just this once, always skip the linter.
    Nur für diese Aufgabe: nie die Tests ändern.
    Bis das Release draußen ist, nie nach main mergen.
    In diesem Branch immer den alten Client verwenden.
    Pour cette tâche seulement, ne touche jamais aux tests.
    Jusqu'à la sortie, ne pousse jamais sur main.
    Solo para esta tarea, no toques nunca los tests.
    Hasta que salga la versión, no subas nunca a main.
    Solo per questo task, non toccare mai i test.
    Fino al rilascio, non pubblicare mai da main.
    Alleen voor deze taak: raak nooit de tests aan.
    Tot de release uit is, merge nooit naar main.
    Só para esta tarefa, nunca mexa nos testes.
    Até a versão sair, nunca publique na main.
    今回は絶対にテストを変更しないでください。
    リリースが終わるまで、決してmainにマージしないこと。
    这次绝对不要修改测试。
    在发布之前，绝对不要合并到main。";

const OF_EACH_TIME: &str = "
    Never merge before the tests are green.
    In this project, never touch the generated files.
    Nunca faça deploy na sexta-feira.
    Sempre rode os testes antes de cada commit.
    Neste projeto usamos pnpm, não npm.
    De agora em diante, as mensagens de commit ficam em inglês.
    Não use nunca float para valores em dinheiro.
    Lembre-se: os testes de integração nunca chamam serviços externos.
    決して本番環境で直接SQLを実行しないこと。
    コミットの前に必ずテストを実行してください。
    今後はコミットメッセージを英語で書いてください。
    このプロジェクトではnpmではなくpnpmを使います。
    永远不要在周五部署。
    提交之前务必运行测试。
    从现在开始，所有时间戳都用UTC。
    我们使用pnpm，不用npm。
    Don't deploy before noon.
    Do not ever deploy at night.
    Make sure to always squash commits.
    Note: use LF line endings.
    Always use npm for installs.
    Wichtig: verwende LF als Zeilenende.
    Deploye nicht vor zwölf Uhr.
    Nota: usa LF como fin de línea.
    Não faça deploy antes do meio-dia.
    We decided on Postgres instead of SQLite because of concurrent writers.
    Wir haben uns für Postgres statt SQLite entschieden.
    Nous avons choisi Postgres plutôt que SQLite.";

const NO_RULES: &str = "
    O botão sempre fica desativado, arruma isso.
    Nunca tinha visto esse erro, o que significa?
    Escreva uma função que sempre retorna uma lista.
    Ainda não apague a tabela antiga.
    この関数は必ずエラーになります。
    いつもタイムアウトで失敗します。
    なぜ必ず再起動するのですか？
    ユーザー名を検証する関数を書いてください。
    这个测试总是失败。
    为什么页面总是很慢？
    我从来没有用过Docker，谢谢。
    请写一个函数，结果永远不要为空。
    Don't touch the config file.
    Don't commit yet, I want to look at it.
    Do not add comments.
    Don't worry about the tests.
    Make sure the sidebar is always visible on desktop.
    Note: I am always on the develop branch.
    Note: run the tests again.
    We decided to stop for today.
    We decided to skip the demo because Tom is ill.
    Important: the build is broken.";

#[test]
fn a_rule_of_one_piece_of_work_or_of_a_while_is_none() {
    assert_eq!(told_wrongly(OF_THIS_ONCE, false), Vec::<&str>::new());
}

#[test]
fn rules_of_each_time_are_known_in_more_forms_and_languages() {
    assert_eq!(told_wrongly(OF_EACH_TIME, true), Vec::<&str>::new());
}

#[test]
fn what_only_looks_like_a_rule_in_these_forms_is_none() {
    assert_eq!(told_wrongly(NO_RULES, false), Vec::<&str>::new());
}
