//! Tests of what the file of a checkout may set, against the layers of the user.

use super::*;

#[test]
fn the_file_of_a_checkout_may_set_what_a_checkout_is_trusted_with_and_nothing_else() {
    let loaded = Place::new().workspace_file("workspace.name = 'shop'").load();
    let WorkspaceRef::Root(root) = loaded.workspace.clone() else { panic!("no root") };
    assert_eq!(loaded.root_name(), Some(RootName { root, name: Some("shop".into()), ..RootName::default() }));
    assert_eq!(loaded.warnings, Vec::<String>::new());

    for key in keys::KEYS.iter().filter(|key| key.in_checkout == keys::InCheckout::Never) {
        let (named, problem, _) = Place::new().workspace_file(&format!("{} = 1", key.name)).problem();
        assert_eq!(named, key.name);
        assert!(problem.starts_with("may not be set by a workspace's file, only retrieval.n_results"), "{problem}");
    }
    let quoted = Place::new().workspace_file("'llm.provider' = 'none'").problem();
    assert!(quoted.1.starts_with("may not be set"));
    for name in ["a\\nb", &"x".repeat(121)] {
        let (key, problem, _) = Place::new().workspace_file(&format!("workspace.name = \"{name}\"")).problem();
        assert_eq!((key.as_str(), problem.as_str()), ("workspace.name", "must be one line of at most 120 characters"));
    }
}

#[rstest]
#[case::more_results("retrieval.n_results = 4", "retrieval.n_results = 5", "retrieval.n_results", "only lower")]
#[case::lower_floor("", "retrieval.relevance_floor = 0.1", "retrieval.relevance_floor", "only raise")]
#[case::all_tools("", "mcp.toolsets = ['admin', 'workspace']", "mcp.toolsets", "only leave out")]
#[case::profile("", "retrieval.profile = 'paper'", "retrieval.profile", "workspace trust")]
#[case::weights("", "retrieval.weights.recency = 9", "retrieval.weights.recency", "workspace trust")]
fn what_would_widen_is_ignored_with_a_warning(
    #[case] user: &str,
    #[case] checkout: &str,
    #[case] key: &str,
    #[case] reason: &str,
) {
    let without = Place::new().user_file(user).load();
    let loaded = Place::new().user_file(user).workspace_file(checkout).load();
    assert_eq!(loaded.settings.retrieval, without.settings.retrieval);
    assert_eq!(loaded.settings.mcp, without.settings.mcp);
    let warning = loaded.warnings.first().unwrap();
    assert!(warning.starts_with(key) && warning.contains(reason), "{warning}");
    assert_ne!(origin(&loaded, key), loaded.proposal.map_or_else(String::new, |p| p.file.display().to_string()));
}

#[rstest]
#[case::fewer(&["core", "admin"], &["admin", "learning"], &[Toolset::Admin])]
#[case::all_of_the_users(&["core"], &["all"], &[Toolset::Core])]
#[case::some_of_all(&["all"], &["core", "learning"], &[Toolset::Core, Toolset::Learning])]
#[case::everything(&["all"], &["all"], &[Toolset::All])]
#[case::none_in_common(&["core"], &["admin"], &[Toolset::Core])]
fn toolsets_of_a_checkout_are_met_with_the_users(
    #[case] user: &[&str],
    #[case] checkout: &[&str],
    #[case] both: &[Toolset],
) {
    let list = |names: &[&str]| format!("mcp.toolsets = {names:?}");
    assert_eq!(Place::new().user_file(&list(user)).workspace_file(&list(checkout)).load().settings.mcp.toolsets, both);
}

#[test]
fn a_ranking_counts_once_the_user_agreed_to_its_very_values() {
    let place = Place::new().workspace_file("retrieval.profile = 'paper'\nretrieval.weights.recency = 2");
    let data_dir = place.load().settings.data_dir;
    let root = place.path("project").display().to_string();
    let asked = place.load().proposal.unwrap().ranking;
    assert_eq!(
        asked.keys().map(String::as_str).collect::<Vec<_>>(),
        ["retrieval.profile", "retrieval.weights.recency"]
    );
    agree(&data_dir, &root, asked.clone()).unwrap();
    assert_eq!(agreed(&data_dir, &root), asked);
    let loaded = place.load();
    assert_eq!(loaded.settings.retrieval.profile, ProfileName::Paper);
    assert_eq!(loaded.settings.retrieval.weights.recency, 2.0);
    assert_eq!(loaded.warnings, Vec::<String>::new());

    let changed = place.workspace_file("retrieval.profile = 'cascade'\nretrieval.weights.recency = 2");
    let loaded = changed.load();
    assert_eq!(loaded.settings.retrieval.profile, ProfileName::Composite, "it was agreed to another one");
    assert_eq!(loaded.settings.retrieval.weights.recency, 2.0);
    agree(&data_dir, &root, CheckoutRanking::new()).unwrap();
    assert_eq!(agreed(&data_dir, &root), CheckoutRanking::new());
    assert_eq!(changed.load().settings.retrieval.weights.recency, 0.3);
}

#[test]
fn an_agreement_that_cannot_be_read_is_none() {
    let place = Place::new().workspace_file("retrieval.profile = 'paper'");
    let data_dir = place.load().settings.data_dir;
    let root = place.path("project").display().to_string();
    agree(&data_dir, &root, place.load().proposal.unwrap().ranking).unwrap();
    let file = fs::read_dir(data_dir.join("agreed")).unwrap().next().unwrap().unwrap().path();
    for garbage in ["", "{", "[]", r#"{"root": "/elsewhere", "ranking": {"retrieval.profile": "paper"}}"#] {
        fs::write(&file, garbage).unwrap();
        assert_eq!(place.load().settings.retrieval.profile, ProfileName::Composite, "{garbage:?}");
    }
}
