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
#[case::available("The SDK is available for Kotlin.", "The SDK is available for Swift.")]
#[case::supported("The parser supports YAML.", "The parser supports TOML.")]
#[case::german("Die API unterstützt JSON.", "Die API unterstützt XML.")]
#[case::shown("The dashboard shows revenue.", "The dashboard shows churn.")]
#[case::french("Le tableau de bord affiche les ventes.", "Le tableau de bord affiche les retours.")]
#[case::finding("The scanner found a vulnerability in lodash.", "The scanner found a vulnerability in minimist.")]
#[case::asked("The installer asks for a licence key.", "The installer asks for a target directory.")]
#[case::mentored("Lea mentors Tom.", "Lea mentors Nina.")]
#[case::absence("Paul is on vacation in August.", "Paul is on vacation in December.")]
#[case::sold("Widgets are sold in Berlin.", "Widgets are sold in Hamburg.")]
#[case::posted("The report is posted to #a.", "The report is posted to #b.")]
#[case::deployed("We deploy to Hetzner.", "We deploy to OVH.")]
#[case::exported("Reports are exported as CSV.", "Reports are exported as XML.")]
#[case::spanish("La API soporta JSON.", "La API soporta XML.")]
#[case::italian("L'API supporta JSON.", "L'API supporta XML.")]
#[case::dutch("De API ondersteunt JSON.", "De API ondersteunt XML.")]
#[case::french_with_a_noun("L'API prend en charge JSON.", "L'API prend en charge XML.")]
#[case::contained("The form contains an email field.", "The form contains a phone field.")]
#[case::included("The plan includes phone support.", "The plan includes on-site support.")]
#[case::offered("The shop offers gift wrapping.", "The shop offers express delivery.")]
#[case::accepted("The endpoint accepts JSON.", "The endpoint accepts XML.")]
#[case::notified("The app notifies the owner.", "The app notifies the reviewer.")]
#[case::logged("The service logs errors.", "The service logs requests.")]
#[case::displayed("The page displays prices.", "The page displays stock.")]
#[case::available_place("The API is available in Frankfurt.", "The API is available in Dublin.")]
#[case::prompted("The wizard prompts for a name.", "The wizard prompts for an address.")]
#[case::coached("Ana coaches Ben.", "Ana coaches Cleo.")]
#[case::spoken_at("Carla speaks at the conference in Vienna.", "Carla speaks at the conference in Oslo.")]
#[case::spanish_language("El equipo habla inglés.", "El equipo habla alemán.")]
#[case::italian_indefinite("Il cliente ha una sede a Roma.", "Il cliente ha una sede a Torino.")]
#[case::now_as_well("The parser supports YAML.", "The parser now supports TOML.")]
#[case::german_absence("Paul ist im August im Urlaub.", "Paul ist im Dezember im Urlaub.")]
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
#[case::supported_from("The app supports iOS 13 and later.", "The app supports iOS 16 and later.")]
#[case::no_longer("The parser supports YAML.", "The parser supports TOML instead of YAML.")]
#[case::noun("The display is a Dell.", "The display is an Eizo.")]
#[case::support_address("The support address is help@acme.example.", "The support address is support@acme.example.")]
#[case::release_day("The release is on 3 August.", "The release is on 5 September.")]
fn another_one_object_is_an_update(#[case] older: &str, #[case] newer: &str) {
    assert!(is_update(older, newer));
}
