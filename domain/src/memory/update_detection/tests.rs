use jiff::Timestamp;
use proptest::prelude::*;
use rstest::rstest;

use super::*;

mod changes;
mod days;
mod dotted;
mod facts;
mod jobs;
mod persons;
mod plans;
mod set;
mod several;
mod unread;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn is_update(older: &str, newer: &str) -> bool {
    let (older, newer) = (Statement::of("", older), Statement::of("", newer));
    updates(DatedStatement { statement: &newer, at: at(2) }, DatedStatement { statement: &older, at: at(1) }).is_some()
}

#[rstest]
#[case::value("The API listens on port 8080.", "The port for the API is 9090.")]
#[case::tool("CI runs on Jenkins.", "We moved from Jenkins to GitHub Actions.")]
#[case::version("DB: Postgres 14", "DB: Postgres 16")]
#[case::holder("Ann owns billing.", "The owner of billing is Bob.")]
#[case::opposite("Do not commit generated files.", "Commit generated files.")]
#[case::unit("Sprint length is two weeks.", "Sprints last three weeks.")]
#[case::amount("Orders are abandoned after 48 hours.", "Orders are abandoned after 24 hours.")]
#[case::amount_behind_a_preposition("Invoices are due in 30 days.", "Invoices are due in 14 days.")]
#[case::irregular_participle("Dashboards are drawn with D3.", "Dashboards are drawn with ECharts.")]
#[case::excluded("Prefer single quotes in JavaScript.", "Prefer double quotes in JavaScript.")]
#[case::possessive("The CEO of Acme is Laura Pine.", "Acme's CEO is Jon Weber.")]
#[case::means("flake8 lints our Python code.", "We lint Python with ruff.")]
#[case::unlisted_verb("Internal services talk over REST.", "Internal services talk over gRPC.")]
#[case::rule("Orders are considered lost after 48 hours.", "Orders are considered lost after 24 hours.")]
#[case::phrase("Emails are sent in plain text.", "Emails are sent in rich format.")]
#[case::other_order("GET requests are retried twice by the gateway.", "The gateway retries GET requests four times.")]
#[case::noun_of_the_verb("Backups are kept for 30 days.", "Retention for backups is 60 days, as the contract says.")]
#[case::related_verb("Sessions live in Redis.", "Sessions are stored in Postgres.")]
#[case::other_form("Static files are served by nginx.", "For serving static files we use Caddy.")]
#[case::role("Nadja is the head of sales.", "Our head of sales is Viktor.")]
#[case::name_with_an_s("Ana leads the data team.", "Ines leads the data team.")]
#[case::contraction("Recipes can be found in Notion.", "You'll find the recipes in Confluence.")]
#[case::recurrence("The index is rebuilt every 6 hours.", "We rebuild the index every 2 hours.")]
#[case::interval("Health checks run every 10 seconds.", "The health check interval is 30 seconds.")]
#[case::weekdays("Retros are on the last Friday of the month.", "The retro is every second Monday.")]
#[case::switch("telemetry = on in the installer", "telemetry = off in the installer")]
#[case::command("Build the book with `make html-book`.", "Build the book with `just book`.")]
#[case::identifier("State is kept in the S3 bucket prod-state-a.", "State lives in the GCS bucket prod-state-b.")]
#[case::minimum(
    "The crate's minimum supported Rust version is 1.70.",
    "You need at least Rust 1.80 to build the crate."
)]
#[case::dismissed("For charts we rely on Chart.js.", "Charts are drawn with ECharts; Chart.js was removed.")]
#[case::named_in_the_reason("Kafka is our event bus.", "We chose NATS as the event bus because Kafka kept stalling.")]
#[case::home("I live in Basel.", "I live in Zurich.")]
#[case::ban("Share helpers through global modules.", "Global modules are forbidden: pass the helper in.")]
#[case::permission("Do not edit generated files.", "Generated files may be edited.")]
#[case::turned_round(
    "Stock levels are copied from the shop to the warehouse.",
    "Stock levels are copied from the warehouse to the shop."
)]
#[case::spoken_time("Standup is at 9:00.", "Standup is at half past nine.")]
#[case::given("Each runner has 4 cores.", "Each runner was given 16 cores.")]
#[case::longer_name("Terraform state is kept in Terraform Cloud.", "We store the Terraform state in an S3 bucket.")]
#[case::replaced_words("The data warehouse is Redshift.", "We replaced the data warehouse by Snowflake.")]
#[case::pronoun_and_verb("Invoices are stored for seven years.", "We keep invoices for ten years.")]
#[case::symbol("Alerts land in the #alerts channel.", "Alerts land in the #incidents channel.")]
#[case::agent("Retros are moderated by Agata.", "Luca moderates the retros.")]
#[case::day_and_hour("Yoga is on Tuesday at 18:00.", "Yoga is on Thursday at 19:00.")]
#[case::both_ends("Phone support is available from 9 to 17.", "Phone support is available from 7 to 21.")]
#[case::written_as_a_path(
    "Start the simulator with `./sim --headless`.",
    "Start the simulator with `docker compose up sim`."
)]
#[case::lowest("The proxy accepts TLS 1.1 and up.", "The lowest TLS version the proxy accepts is 1.2.")]
#[case::cleft("We keep recipes in Notion.", "Confluence is where we keep recipes.")]
#[case::cleft_of_means("The stubs are generated with `make proto`.", "`buf generate` is how you generate the stubs.")]
#[case::cleft_with_it("Ann owns billing.", "It is Bob who owns billing.")]
#[case::cleft_that_ends_with_its_value("We keep recipes in Notion.", "Where we keep recipes is Confluence.")]
#[case::contrast("The app shows Google Maps.", "The app no longer shows Google Maps but Mapbox.")]
#[case::contrast_behind_a_pause("The index is stored in Solr.", "The index is not stored in Solr, but in Typesense.")]
#[case::retracted("Tickets are refunded until the day before.", "We no longer refund tickets.")]
#[case::there_is_none("The minimum order is 25 euros.", "There is no minimum order any more.")]
#[case::compound("We work on long-lived branches in Gitea.", "We work on long-lived branches in GitLab.")]
#[case::part_of_a_percent(
    "Visual tests allow a difference of 0.1 percent.",
    "Visual tests allow a difference of half a percent."
)]
#[case::habit("Incidents are discussed in #ops.", "Incidents are discussed in #fire.")]
#[case::required_version("Node 18 is required.", "Node 22 is required.")]
#[case::needed_version("Java 17 is needed to build it.", "Java 21 is needed to build it.")]
#[case::version_with_lts("The runner is based on Ubuntu 22.04 LTS.", "The runner is based on Ubuntu 24.04.")]
fn a_changed_value_is_an_update(#[case] older: &str, #[case] newer: &str) {
    assert!(is_update(older, newer));
}

#[rstest]
#[case::environment("The API listens on port 8080.", "In staging the API listens on port 8081.")]
#[case::other_service("The API listens on port 8080.", "The worker listens on port 8081.")]
#[case::condition("Maximum speed is 120.", "Maximum speed is 80 when it rains.")]
#[case::version("Use typing.", "On Python 3.8 use typing_extensions.")]
#[case::other_attribute("Page size is 20.", "Font size is 12.")]
#[case::list("Approved vendors: Dell", "Approved vendors: Dell, HP")]
#[case::country("Company headquarters: Rotterdam", "US headquarters: Austin")]
#[case::audience("Standup is at 10:15.", "The design team's standup is at 9:00.")]
#[case::one_of_many("The service depends on Redis.", "The service depends on Postgres.")]
#[case::another_receiver("Alerts are sent to Slack.", "Alerts are sent to PagerDuty.")]
#[case::several("We ship to Norway and Sweden.", "We ship to Denmark and Finland.")]
#[case::detail("Team lunch is on Wednesday.", "Team lunch is on Wednesday at noon.")]
#[case::same("Page size is 20.", "The page size is 20!")]
#[case::other_work("Ann owns billing.", "Ann owns search.")]
#[case::one_more("We buy flour from the mill in Uster.", "We also buy flour from the mill in Wil.")]
#[case::doubt("The queue is NATS.", "We are considering Kafka as the queue.")]
#[case::other_unit_of_time("The ferry takes 20 minutes.", "The ferry leaves every 60 minutes.")]
#[case::other_place("The train leaves at 8:05.", "The train leaves from platform 4.")]
#[case::ordinal("The fridge is set to 4 degrees.", "The fridge is on the second floor.")]
#[case::other_end("The lease started in May 2022.", "The lease ends in May 2027.")]
#[case::other_measure("Default timeout: 30 seconds", "Maximum timeout: 300 seconds")]
#[case::other_role("max_connections: 100 (replica)", "max_connections: 300 (primary)")]
#[case::other_verb("The gateway caches tokens for 5 minutes.", "The gateway's tokens expire after 30 minutes.")]
#[case::other_object("CI caches the cargo registry.", "CI caches the node modules.")]
#[case::measured_thing("The alarm fires at 80 percent CPU.", "The alarm fires at 90 percent memory.")]
#[case::versions("Before 2.0 the flag is --fast.", "From 2.0 on the flag is --speed.")]
#[case::subject("We indent with spaces in the compiler.", "Makefiles in the compiler are indented with tabs.")]
#[case::permissions("Users can log in with Google.", "Users can log in with GitHub.")]
#[case::one_more_person("Ana mentors the interns.", "Chen mentors the interns as well.")]
#[case::question("The queue is RabbitMQ.", "Should the queue be NATS?")]
#[case::other_checks("The linter checks for unused imports.", "The linter checks for shadowed names.")]
#[case::where_and_who("My dentist is Dr. Sommer.", "My dentist is in Linz.")]
#[case::where_and_whence("The thermostat is from Tado.", "The thermostat is in the hall.")]
#[case::bound_and_fact("Coverage must be at least 80 percent.", "Coverage is 91 percent.")]
#[case::how_many_there_are("The limit of open orders is 50.", "There are 12 open orders.")]
#[case::event("The job was run by hand on Monday.", "The job runs automatically.")]
#[case::supported("Python 3.8 is supported.", "Python 3.12 is supported.")]
#[case::required_tools("ESLint is required.", "Prettier is required.")]
#[case::deed("Sara translated the book into Spanish.", "Sara translated the book into Basque.")]
#[case::idea("The limit is 200.", "We could raise the limit to 500 next quarter.")]
#[case::letters("Team A deploys to AWS.", "Team B deploys to GCP.")]
#[case::indefinite("A customer of the team is Falkring.", "A customer of the team is Havsund.")]
#[case::occasion("The pipeline fails when a secret is found.", "The pipeline fails when a licence is missing.")]
#[case::shared_work("Ilse reviews changes to the parser.", "Tobias reviews changes to the parser.")]
#[case::told_apart("The ingress listens on port 443.", "The ingress listens on port 8443; that one is for mutual TLS.")]
#[case::today("Lunch is served at 12:00.", "Today lunch was served at 12:50.")]
#[case::left_out("Prices are shown in dollars.", "Prices are shown in dollars, without tax.")]
#[case::tool_and_agent("Monitoring is done with Nagios.", "Monitoring is done by the operations team.")]
#[case::exempt("Every merge needs a review.", "Merges by the release bot need no review.")]
#[case::other_work_done("Code is formatted with Prettier.", "Code is linted with ESLint.")]
#[case::fleet("On the blue fleet the heap is 4 GB.", "On the green fleet the heap is 6 GB.")]
#[case::period("Uploads are stored in MinIO.", "During tests, uploads are stored in a temporary folder.")]
#[case::in_addition("The grants cover travel.", "The grants cover meals in addition.")]
#[case::object_of_the_advice("Retry failed webhooks after one second.", "Retry failed uploads after ten seconds.")]
#[case::other_act("Uploads are stored in MinIO.", "Uploads come from the tablet.")]
#[case::being_and_act("The logs are plain text.", "The logs are shipped by a daemon.")]
#[case::verb_and_measure("The pool opens at ten.", "The pool is 25 metres long.")]
#[case::phone_number("The hotline is open from 8 to 18.", "The hotline has the number 0800 555 019.")]
#[case::not_only("The app shows Google Maps.", "The app shows not only Google Maps but Mapbox.")]
#[case::address_of_it("The VPN uses WireGuard.", "Addresses in the VPN come from 10.40.0.0/16.")]
#[case::other_thing_retracted("Tickets are refunded until the day before.", "We no longer refund vouchers.")]
#[case::cleft_of_the_same("The band rehearses in the town hall.", "The town hall is where the band rehearses.")]
#[case::other_question("Parcels are carried by Hermes.", "Parcels wait in the hall.")]
fn an_exception_is_no_update(#[case] older: &str, #[case] newer: &str) {
    assert!(!is_update(older, newer));
    assert!(!is_update(newer, older));
}

fn neighbour(statement: &Statement, second: i64) -> OlderStatement<'_> {
    OlderStatement { said: DatedStatement { statement, at: at(second) }, is_outdated: false }
}

#[test]
fn an_attribute_that_holds_two_values_is_not_updated() {
    let texts = ["The port is 80.", "The port is 81.", "The port is 82.", "The host is alpha."];
    let all = texts.map(|text| Statement::of("", text));
    let newer = DatedStatement { statement: &all[2], at: at(9) };
    let places = |neighbours: &[OlderStatement<'_>]| {
        found(newer, neighbours).iter().map(|(place, _)| *place).collect::<Vec<_>>()
    };
    assert_eq!(places(&[neighbour(&all[3], 1), neighbour(&all[0], 2)]), [1]);
    assert_eq!(places(&[neighbour(&all[0], 1), neighbour(&all[1], 2)]), [] as [usize; 0]);
    let outdated = OlderStatement { is_outdated: true, ..neighbour(&all[0], 1) };
    assert_eq!(places(&[outdated, neighbour(&all[1], 2)]), [1]);
    assert_eq!(places(&[neighbour(&all[0], 10)]), [] as [usize; 0]);
}

#[test]
fn what_the_title_narrows_is_narrowed() {
    let of = |title: &str| Statement::of(title, "The port is 80.");
    let other = Statement::of("Gateway", "The port is 81.");
    assert!(same_subject(&of("Gateway"), &other));
    assert!(!same_subject(&of("Gateway in staging"), &other));
    assert!(!same_subject(&of("Worker"), &other));
}

#[test]
fn a_title_of_several_things_tells_that_there_are_several() {
    let (older, newer) = ("The meetup is sponsored by Initech.", "The meetup is sponsored by Umbrella.");
    let is_same = |title: &str| same_subject(&Statement::of(title, older), &Statement::of(title, newer));
    assert!(is_same("Sponsor") && !is_same("Sponsors"));
    // A claim that both make in their title changes nothing.
    let added = Statement::of("Grandma's pills", "Grandma takes magnesium too.");
    assert!(!same_subject(&added, &Statement::of("Grandma's pills", "Grandma takes vitamin D.")));
}

fn placed(second: i64, trust: u8, owner: u8) -> DatedResult<u8, u8> {
    DatedResult { at: at(second), trust, owner }
}

#[test]
fn the_newest_stands_at_the_place_of_the_best() {
    let ranked: Vec<_> = (0..4).map(|second| placed(second, 1, 1)).collect();
    let one = newest_first(&ranked, &[(2, 0)]);
    assert_eq!(one.order, [2, 0, 1, 3]);
    assert_eq!(one.outdated_by, [Some(2), None, None, None]);
    let chain = newest_first(&ranked, &[(2, 0), (3, 2)]);
    assert_eq!(chain.order, [3, 2, 0, 1]);
    assert_eq!(chain.outdated_by, [Some(2), None, Some(3), None]);
}

#[rstest]
#[case::lower_trust(0, 1)]
#[case::other_owner(1, 2)]
fn who_may_not_replace_is_shown_beside(#[case] trust: u8, #[case] owner: u8) {
    let ranked = [placed(1, 1, 1), placed(2, trust, owner)];
    let shown = newest_first(&ranked, &[(1, 0)]);
    assert_eq!(
        (shown.order, shown.outdated_by, shown.contested_by),
        (vec![0, 1], vec![None, None], vec![Some(1), None])
    );
}

#[test]
fn a_long_text_is_read_and_is_not_of_another_subject_than_itself() {
    let texts = ["The port of a is 80. ", "word ", "a,", "if the ", "=", "key=1 "]
        .map(|part| part.repeat(100_000 / part.len()));
    for text in &texts {
        let statement = Statement::of(text, text);
        assert!(!same_subject(&statement, &statement));
    }
}

/// Makes texts of words that clauses are made of, so that they often mean something.
fn texts() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "the", "port", "API", "is", "uses", "listens", "on", "in", "staging", "Postgres", "MySQL", "8080", "9090",
        "not", "from", "to", "moved", "of", "instead", "was", "and", ",", ":", "=", ".", "every", "30", "seconds",
        "May", "if", "never", "replaced", "with",
    ]);
    prop_oneof![prop::collection::vec(words, 0..14).prop_map(|words| words.join(" ")), any::<String>()]
}

proptest! {
    #[test]
    fn no_statement_updates_itself_or_both_ways(a in texts(), b in texts(), title in texts(), seconds in (0..3i64, 0..3i64)) {
        let (a, b) = (Statement::of(&title, &a), Statement::of("", &b));
        prop_assert!(!same_subject(&a, &a), "{:?}", a);
        let (said_a, said_b) = (DatedStatement { statement: &a, at: at(seconds.0) }, DatedStatement { statement: &b, at: at(seconds.1) });
        prop_assert!(updates(said_a, said_b).is_none() || updates(said_b, said_a).is_none());
        prop_assert!(seconds.0 != seconds.1 || updates(said_a, said_b).is_none());
        prop_assert!(updates(said_a, said_b).is_none_or(|confidence| (0.0..=1.0).contains(&confidence)));
        prop_assert!(updates(said_a, said_b).is_none() || same_subject(&a, &b));
        prop_assert_eq!(same_subject(&a, &b), same_subject(&b, &a));
    }

    #[test]
    fn newest_first_shows_each_result_once_and_newer_ones_before_what_they_outdate(
        results in prop::collection::vec((0..4i64, 0..2u8, 0..2u8), 0..10),
        links in prop::collection::vec((0..12usize, 0..12usize), 0..8),
    ) {
        let ranked: Vec<_> = results.iter().map(|(second, trust, owner)| placed(*second, *trust, *owner)).collect();
        let shown = newest_first(&ranked, &links);
        let mut sorted = shown.order.clone();
        sorted.sort();
        prop_assert_eq!(sorted, (0..ranked.len()).collect::<Vec<_>>());
        let place = |of: usize| shown.order.iter().position(|place| *place == of).unwrap();
        for (older, newer) in shown.outdated_by.iter().enumerate().filter_map(|(older, newer)| Some((older, (*newer)?))) {
            prop_assert!(place(newer) < place(older) && ranked[newer].at > ranked[older].at);
            prop_assert!(ranked[newer].trust >= ranked[older].trust && ranked[newer].owner == ranked[older].owner);
        }
    }
}
