//! Who does or has something: another person takes the place of the one before where one alone does or has it.

use rstest::rstest;

use super::is_update;

#[rstest]
#[case::on_call("Tom is on call for the shop.", "Sarah is on call for the shop.")]
#[case::with_a_hyphen("Tom is on-call for billing.", "Sarah is on-call for billing.")]
#[case::on_call_alone("Tom is on call this month.", "Sarah is on call this month.")]
#[case::engineer("The on-call engineer is Tom.", "The on-call engineer is Sarah.")]
#[case::in_charge("Tom is in charge of the releases.", "Sarah is responsible for the releases.")]
#[case::thing("Tom has the pager.", "Sarah has the pager.")]
#[case::duty("Leo cuts the releases.", "Nina cuts the releases.")]
#[case::two_names("Leo Maier orders the hardware.", "Nina Braun orders the hardware.")]
#[case::turned_round("Releases are cut by Leo.", "Nina cuts the releases.")]
#[case::active_after_passive("Leo cuts the releases.", "Releases are cut by Nina.")]
#[case::heading("Shop: Tom is on call.", "Shop: Sarah is on call.")]
fn another_person_is_an_update(#[case] older: &str, #[case] newer: &str) {
    assert!(is_update(older, newer));
}

#[rstest]
#[case::other_area("Tom is on call for the shop.", "Sarah is on call for billing.")]
#[case::other_days("Tom is on call on Mondays.", "Sarah is on call on Fridays.")]
#[case::other_week("Week 14: Nadia is on call.", "Week 15: Piotr is on call.")]
#[case::other_month("In July Tom has the pager.", "In August Sarah has the pager.")]
#[case::other_charge("Tom is in charge of the releases.", "Sarah is in charge of the website.")]
#[case::other_thing("Tom has the pager.", "Sarah has the keys.")]
#[case::other_duty("Leo cuts the releases.", "Nina cuts the videos.")]
#[case::area_of_another("Sarah is on call for billing.", "Tom is on call for shipping.")]
#[case::other_work_on_a_thing("Sarah has the release keys.", "Leo cuts the releases.")]
#[case::what_a_thing_does("Sarah has the pager.", "The pager rings at night.")]
#[case::employees("Nora is in charge of hiring.", "New employees get a ThinkPad.")]
#[case::right_of_several("Tina has the right to merge.", "Omar has the right to merge.")]
#[case::taking_part("Leo attends the standup.", "Nina attends the standup.")]
#[case::parts_of_a_program("Checkout calls the payment API.", "Search calls the payment API.")]
fn another_person_with_another_area_is_no_update(#[case] older: &str, #[case] newer: &str) {
    assert!(!is_update(older, newer));
    assert!(!is_update(newer, older));
}
