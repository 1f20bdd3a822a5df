//! Rejected options, plans for later, goals and what was taken back change nothing that holds.

use rstest::rstest;

use super::is_update;

#[rstest]
#[case::rejected("We use Redis for the session store.", "We decided against DynamoDB for the session store.")]
#[case::rejected_again("We use Postgres for the audit trail.", "We decided against MongoDB for the audit trail.")]
#[case::later("The gateway port is 443.", "The gateway port will be 9443 next year.")]
#[case::taken_back("The CDN is Fastly.", "The CDN was briefly Akamai in March, then we went back.")]
#[case::goal("The build takes 12 minutes.", "The build should take less than 5 minutes.")]
#[case::rejected_option("The queue is RabbitMQ.", "We rejected Kafka as the queue.")]
#[case::ruled_out("The queue is RabbitMQ.", "Kafka was ruled out as the queue.")]
#[case::we_ruled_out("The cache is Redis.", "We ruled out Memcached as the cache.")]
#[case::not_taken("We host on AWS.", "We looked at GCP for hosting, but it was too expensive.")]
#[case::later_month("The standup is at 9:00.", "The standup will move to 10:00 next month.")]
#[case::soon("The limit is 200.", "The limit will be 500 soon.")]
#[case::next_year("The database is Postgres 14.", "Next year the database will be Postgres 17.")]
#[case::bound("The p95 latency is 300 ms.", "The p95 latency should be under 200 ms.")]
#[case::used_to("The cluster has 5 nodes.", "The cluster used to have 3 nodes.")]
#[case::for_a_while("The CDN is Fastly.", "For a while the CDN was Cloudflare.")]
#[case::tried("The tracker is Jira.", "We tried Linear as the tracker, then we went back.")]
#[case::switched_back("The tracker is Jira.", "The tracker was Linear for two months, but we switched back.")]
#[case::german_rejected("Die Datenbank ist Postgres.", "Wir haben uns gegen MySQL als Datenbank entschieden.")]
#[case::german_later("Der Port ist 443.", "Der Port wird nächstes Jahr 9443 sein.")]
#[case::german_past("Das CDN ist Fastly.", "Das CDN war im März kurz Akamai.")]
#[case::german_goal("Der Build dauert 12 Minuten.", "Der Build sollte weniger als 5 Minuten dauern.")]
#[case::french_rejected("La base est Postgres.", "Nous avons rejeté MySQL pour la base.")]
#[case::french_later("Le port est 443.", "Le port sera 9443 l'année prochaine.")]
#[case::french_past("Le CDN est Fastly.", "Le CDN était brièvement Akamai.")]
#[case::spanish_past("La base de datos es Postgres.", "La base de datos era MySQL.")]
#[case::spanish_later("El puerto es 443.", "El puerto será 9443 el próximo año.")]
#[case::spanish_rejected("La cola es RabbitMQ.", "Descartamos Kafka como cola.")]
#[case::italian_later("La porta è 443.", "La porta sarà 9443 l'anno prossimo.")]
#[case::italian_past("Il CDN è Fastly.", "Il CDN era Akamai.")]
#[case::italian_rejected("La coda è RabbitMQ.", "Abbiamo scartato Kafka come coda.")]
#[case::dutch_later("De poort is 443.", "De poort wordt volgend jaar 9443.")]
#[case::dutch_past("De CDN is Fastly.", "De CDN was kort Akamai.")]
#[case::dutch_rejected("De wachtrij is RabbitMQ.", "We hebben Kafka afgewezen als wachtrij.")]
#[case::dutch_goal("De build duurt 12 minuten.", "De build zou minder dan 5 minuten moeten duren.")]
fn what_does_not_hold_is_no_update(#[case] older: &str, #[case] newer: &str) {
    assert!(!is_update(older, newer));
}

#[rstest]
#[case::decided_for("The queue is RabbitMQ.", "We decided to use Kafka as the queue.")]
#[case::back_to("The CDN is Akamai.", "We went back to Fastly as the CDN.")]
#[case::will_be("The wedding is catered by Casa Verde.", "The wedding will be catered by Lupo.")]
#[case::bounds("Builds must take less than 12 minutes.", "Builds must take less than 5 minutes.")]
#[case::advice("Tests should use unittest.", "Tests should use pytest.")]
#[case::rejected_in_general(
    "Requests are rejected after 30 seconds in the queue.",
    "Requests are rejected after 60 seconds in the queue."
)]
#[case::used_to_build("Maven is used to build the app.", "Gradle is used to build the app.")]
#[case::german("Der Port ist 443.", "Der Port ist jetzt 9443.")]
#[case::french("Le port est 443.", "Le port est désormais 9443.")]
#[case::limit("Uploads are limited to 10 MB.", "Uploads may be up to 25 MB since June.")]
#[case::french_day("La réunion est le lundi.", "La réunion est le mardi.")]
fn what_holds_from_now_on_is_an_update(#[case] older: &str, #[case] newer: &str) {
    assert!(is_update(older, newer));
}
