//! Changes that say the value before, or say the new one in other words.

use rstest::rstest;

use super::is_update;

#[rstest]
#[case::taken_over("Maria owns the billing service.", "Jonas took over the billing service from Maria.")]
#[case::lead_taken_over("Ben leads the mobile team.", "Eva took over the mobile team from Ben.")]
#[case::renamed("The internal package is called acme-utils.", "acme-utils was renamed to acme-core.")]
#[case::renamed_word("The library is called fastcsv.", "fastcsv was renamed to quickcsv.")]
#[case::rewritten("The frontend is written in Angular.", "The frontend was rewritten in React.")]
#[case::has_been_rewritten("The exporter is written in Perl.", "The exporter has been rewritten in Go.")]
#[case::purpose("Pull requests need one approval.", "Pull requests need two approvals before they can be merged.")]
#[case::german("Wir verwenden GitLab für die Quelltexte.", "Wir sind von GitLab zu Forgejo gewechselt.")]
#[case::french("Nous utilisons GitLab pour le code.", "Nous sommes passés de GitLab à Forgejo.")]
#[case::spanish("Usamos GitLab para el código.", "Hemos migrado de GitLab a Forgejo.")]
#[case::italian("Usiamo GitLab per il codice.", "Siamo passati da GitLab a Forgejo.")]
#[case::dutch("We gebruiken GitLab.", "We zijn overgestapt van GitLab naar Forgejo.")]
#[case::japanese("本番サーバーのポートは3000です。", "本番サーバーのポートは4000です。")]
#[case::japanese_unit("セッションの有効期限は30分です。", "セッションの有効期限は60分です。")]
#[case::chinese("数据库端口是5432。", "数据库端口是5433。")]
#[case::chief("The CTO is Martin Keller.", "Priya Nair is the new CTO.")]
#[case::abbreviation("We use Jenkins for continuous integration.", "We moved our CI to GitHub Actions.")]
#[case::address("The support address is help@acme.example.", "The support address is support@acme.example.")]
#[case::indentation("We indent with tabs.", "We indent with spaces.")]
#[case::plain_text("Logs are plain text.", "Logs are JSON.")]
#[case::german_switch("Das Debug-Logging ist aus.", "Das Debug-Logging ist an.")]
#[case::german_participle("Der Wartungsmodus ist deaktiviert.", "Der Wartungsmodus ist aktiviert.")]
#[case::never_any_more("Always use black for formatting.", "Never use black any more, always use ruff for formatting.")]
#[case::never_alone("Always use Moment for dates.", "Never use Moment for dates any more.")]
fn a_change_in_other_words_is_an_update(#[case] older: &str, #[case] newer: &str) {
    assert!(is_update(older, newer));
}

#[rstest]
#[case::other_service("Maria owns the billing service.", "Jonas took over the search service from Ben.")]
#[case::other_name("The library is called fastcsv.", "acme-utils was renamed to acme-core.")]
#[case::other_tool("Wir verwenden Slack im Support.", "Wir sind von GitLab zu Forgejo gewechselt.")]
#[case::japanese_subject("本番サーバーのポートは3000です。", "テストサーバーのポートは4000です。")]
#[case::japanese_same_value("ポートは3000です。", "タイムアウトは3000です。")]
#[case::japanese_phase("フェーズ1は完了です。", "フェーズ2は完了です。")]
#[case::japanese_event("障害は3日に起きました。", "障害は9日に起きました。")]
#[case::chinese_subject("数据库端口是5432。", "缓存端口是6379。")]
#[case::german_other_switch("Das Debug-Logging ist aus.", "Der Wartungsmodus ist an.")]
#[case::other_formatting("Always use black for formatting.", "Never use sed for migrations.")]
#[case::before_something("Tests run on each push.", "Tests run for an hour before they can be trusted.")]
fn another_thing_that_changed_is_no_update(#[case] older: &str, #[case] newer: &str) {
    assert!(!is_update(older, newer));
    assert!(!is_update(newer, older));
}
