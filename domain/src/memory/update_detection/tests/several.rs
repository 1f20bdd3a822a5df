//! Verbs that may have several objects, none of which takes the place of another, beside verbs that have one.

use rstest::rstest;

use super::is_update;

#[rstest]
#[case::login("Customers log in with Google.", "Customers log in with Apple.")]
#[case::published("The SDK is published to npm.", "The SDK is published to PyPI.")]
#[case::we_publish("We publish the SDK to npm.", "We publish the SDK to PyPI.")]
#[case::translated("The app is translated into French.", "The app is translated into Polish.")]
#[case::tested_in("The layout is tested in Firefox.", "The layout is tested in Safari.")]
#[case::device("We test on a Galaxy S21.", "We test on a Moto G.")]
#[case::mailed("Orders are mailed to the farmer.", "Orders are mailed to the buyer.")]
fn one_of_several_objects_is_no_update(#[case] older: &str, #[case] newer: &str) {
    assert!(!is_update(older, newer));
    assert!(!is_update(newer, older));
}

#[rstest]
#[case::login("We log in with Google.", "We log in with Okta instead of Google.")]
#[case::published("The SDK is published to npm.", "The SDK is published to PyPI instead of npm.")]
#[case::host("We host on Heroku.", "We host on Render.")]
#[case::deployed("The app is deployed to Heroku.", "The app is deployed to Hetzner.")]
#[case::tested_with("Components are tested with Enzyme.", "Components are tested with Testing Library.")]
#[case::day("The report is published on Mondays.", "The report is published on Fridays.")]
fn another_one_object_is_an_update(#[case] older: &str, #[case] newer: &str) {
    assert!(is_update(older, newer));
}
