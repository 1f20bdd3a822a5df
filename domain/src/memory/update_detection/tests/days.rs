//! What happened on one day, and what one day is like, is no update of another day. A plan for another day is.

use rstest::rstest;

use super::is_update;

#[rstest]
#[case::past_of_to_be("The API was down on 3 June.", "The API was down on 9 July.")]
#[case::reason_and_advice(
    "The API was down on 3 June because the disk was full: rotate the logs.",
    "The API was down on 9 July because the certificate had expired: renew it."
)]
#[case::name_in_the_reason("CI was red on 2 May because of a flaky test.", "CI was red on 8 May because npm was down.")]
#[case::regular_past("The certificate expired on 2 March.", "The certificate expired on 30 May.")]
#[case::past_at_the_end("The deploy of 3 June failed.", "The deploy of 9 July failed.")]
#[case::adverb("The proxy crashed on 2024-06-03.", "The proxy crashed again on 2024-07-09.")]
#[case::irregular_past("On Monday the build broke.", "On Friday the build broke.")]
#[case::noun_that_is_a_verb_of_change("We had a power cut in March.", "We had a power cut in June.")]
#[case::passive_past("Customers were charged twice on 3 June.", "Customers were charged twice on 4 August.")]
#[case::state_of_a_day("The office is closed on 1 May.", "The office is closed on 3 October.")]
#[case::day_first("On 24 December the shop is closed.", "On 1 January the shop is closed.")]
#[case::denial("On 6 January nobody works.", "On 15 August nobody works.")]
#[case::german_past("Am 3. Mai war die API nicht erreichbar.", "Am 9. Juni war die API nicht erreichbar.")]
#[case::french_past("L'API était en panne le 3 mai.", "L'API était en panne le 9 juin.")]
#[case::french_state("Le bureau est fermé le 1 mai.", "Le bureau est fermé le 14 juillet.")]
#[case::sort_of_day("1 May is a holiday.", "3 October is a holiday.")]
fn a_day_beside_another_is_no_update(#[case] older: &str, #[case] newer: &str) {
    assert!(!is_update(older, newer));
    assert!(!is_update(newer, older));
}

#[rstest]
#[case::present("The beta launches on 3 June.", "The beta launches on 9 July.")]
#[case::plan("The release is planned for 3 June.", "The release is planned for 9 July.")]
#[case::plan_in_the_past("The beta was scheduled for 3 June.", "The beta was scheduled for 9 July.")]
#[case::expiry("The certificate expires on 3 June.", "The certificate expires on 9 July.")]
#[case::moved("The launch is on 3 June.", "The launch was moved from 3 June to 9 July.")]
#[case::participle_before_a_noun("The extended deadline is 3 June.", "The extended deadline is 9 July.")]
#[case::denial_of_a_time("No deploys after 20 December.", "No deploys after 18 December.")]
#[case::weekday("The shop is closed on Sundays.", "The shop is closed on Mondays.")]
#[case::the_last("The last backup was on 3 June.", "The last backup was on 9 July.")]
#[case::cut_off("We cut off support on 3 June.", "We cut off support on 9 July.")]
#[case::german_plan("Der Launch ist am 3. Mai.", "Der Launch ist am 9. Juni.")]
#[case::spanish_plan("La entrega es el 3 de mayo.", "La entrega es el 10 de junio.")]
#[case::german_day_and_hour("Der Deploy läuft freitags um 14 Uhr.", "Der Deploy läuft donnerstags um 10 Uhr.")]
#[case::italian_weekday("La riunione è il lunedì.", "La riunione è il martedì.")]
#[case::once("The firm was founded on 3 June 1998.", "The firm was founded on 9 July 1997.")]
fn a_plan_for_another_day_is_an_update(#[case] older: &str, #[case] newer: &str) {
    assert!(is_update(older, newer));
}
