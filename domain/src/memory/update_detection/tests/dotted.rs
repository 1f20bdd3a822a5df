//! Names, hosts and files with dots are values as others are.

use rstest::rstest;

use super::is_update;

#[rstest]
#[case::host_of_a_firm("We host on Heroku.", "We host on Fly.io.")]
#[case::back("We host on Fly.io.", "We host on Render.")]
#[case::named_as_former("We host on Fly.io.", "We moved from Fly.io to Hetzner.")]
#[case::framework("The landing page is built with Gatsby.", "The landing page is built with Next.js.")]
#[case::tool_with_an_ending("The panel uses Vue.js.", "The panel uses React.")]
#[case::version("Scripts run on Node.js 18.", "Scripts run on Node 22.")]
#[case::small_letters("Diagrams are drawn in Visio.", "Diagrams are drawn in draw.io.")]
#[case::capitals("The API is written in ASP.NET.", "The API is written in Go.")]
#[case::weekday("Tickets are in Monday.com.", "Tickets are in Linear.")]
#[case::file("The entry point is main.py.", "The entry point is app.py.")]
#[case::host("Calls go over api.old.example.", "Calls go over api.new.example.")]
#[case::shorter_host("The wiki is at wiki.acme.internal.", "The wiki is at docs.internal.")]
#[case::file_to_tool("Flags are kept in flags.yaml.", "Flags are kept in Unleash.")]
#[case::format("The labels use the format DD.MM.YYYY.", "The labels use the format YYYY-MM-DD.")]
#[case::standard("Dates are formatted as DD.MM.YYYY.", "Dates are formatted as ISO 8601.")]
#[case::pattern("Dates are written as DD/MM/YYYY.", "Dates are written as YYYY-MM-DD.")]
#[case::standards("Timestamps follow RFC 3339.", "Timestamps follow ISO 8601.")]
fn a_value_with_a_dot_is_updated(#[case] older: &str, #[case] newer: &str) {
    assert!(is_update(older, newer));
}

#[rstest]
#[case::same_name("We host on Fly.", "We host on Fly.io.")]
#[case::other_thing("The shop runs on Fly.io.", "The blog runs on Render.")]
#[case::other_file("The parser is in parser.rs.", "The lexer is in lexer.rs.")]
#[case::one_of_several("The shop imports config.yaml.", "The shop imports routes.yaml.")]
#[case::host_and_tool("The staging site is at stage.acme.io.", "Staging runs Postgres 16.")]
#[case::other_advice("Read README.md first.", "Read CONTRIBUTING.md first.")]
fn another_thing_with_a_dot_is_no_update(#[case] older: &str, #[case] newer: &str) {
    assert!(!is_update(older, newer));
    assert!(!is_update(newer, older));
}
