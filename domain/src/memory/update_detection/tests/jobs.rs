//! Tools of several kinds take each other's place where a clause tells of a job that they all do.

use rstest::rstest;

use super::is_update;

#[rstest]
#[case::queue("Jobs are queued in RabbitMQ.", "Jobs are queued in Redis.")]
#[case::queue_in_a_database("Mails are queued in SQS.", "Mails are queued in Postgres.")]
#[case::takes_jobs("The worker takes its jobs from RabbitMQ.", "The worker takes its jobs from Redis.")]
#[case::locks("Locks are kept in Postgres.", "Locks are kept in Redis.")]
#[case::cart("The cart is kept in Redis.", "The cart is kept in Postgres.")]
#[case::ci("CI runs on Jenkins.", "CI runs on GitLab.")]
#[case::errors("Errors go to Sentry.", "Errors go to Datadog.")]
#[case::tickets("Tickets are in Jira.", "Tickets are in GitHub.")]
#[case::hosting("The shop is hosted on Heroku.", "The shop is hosted on Kubernetes.")]
#[case::search("Product search runs on Elasticsearch.", "Product search runs on Postgres.")]
fn another_tool_of_the_job_is_an_update(#[case] older: &str, #[case] newer: &str) {
    assert!(is_update(older, newer));
}

#[rstest]
#[case::used("The shop uses Redis.", "The shop uses Postgres.")]
#[case::connected("The worker connects to Redis.", "The worker connects to Postgres.")]
#[case::other_job("Jobs are queued in RabbitMQ.", "The product pages are cached in Redis.")]
#[case::other_data("Orders are stored in Postgres.", "Sessions are stored in Redis.")]
#[case::no_job_of_one("Jobs are queued in Redis.", "Jobs are written in Python.")]
#[case::kind_of_tests("Tests are run with pytest.", "Playwright drives our end-to-end tests.")]
#[case::thing_beside("Errors are reported to Sentry.", "The error dashboard is in Grafana.")]
#[case::needed("Tests need Redis.", "Tests need Postgres.")]
fn a_tool_beside_another_is_no_update(#[case] older: &str, #[case] newer: &str) {
    assert!(!is_update(older, newer));
    assert!(!is_update(newer, older));
}
