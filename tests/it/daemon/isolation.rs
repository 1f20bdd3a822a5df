//! Tests that a token of one team learns nothing of another team. The tools and routes are those that the running
//! daemon names itself, so that a new one is tested with no change here.
//!
//! `tenants` is a daemon with two teams, of which one has everything that can be asked for. `surface` lists what can be
//! called, and where in a call an id or a name can stand.

mod fuzz;
mod surface;
mod tenants;
mod timing;

use serde_json::{Map, Value};

use self::surface::{Answer, Call, Slot, Surface, slots};
use self::tenants::{CANARY, Tenants};

/// The number of times that a difference between the answers to a foreign and to an unknown value is seen before it
/// counts: work in the background changes what a list shows at any moment.
const TRIES: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_another_team_is_read_changed_listed_or_counted_by_any_tool_or_route() {
    let tenants = Tenants::start().await;
    let surface = Surface::of(&tenants).await;
    let before = tenants.listing_of_the_other_team().await;

    // A call without a foreign id or name shows none.
    for call in &surface.calls {
        let answer = tenants.send(&call.request(&tenants)).await;
        for foreign in tenants.foreign_texts() {
            assert!(!answer.text.contains(foreign), "{call} shows {foreign:?}: {}", answer.text);
        }
    }

    let mut compared = 0;
    for call in &surface.calls {
        for slot in slots(call) {
            let mut of_unknown = None;
            for foreign in tenants.foreign_values(slot.is_id, slot.is_of_a_name()) {
                compare(&tenants, call, &slot, foreign, &mut of_unknown)
                    .await
                    .unwrap_or_else(|difference| panic!("{call}, {slot}: {difference}"));
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "{compared}");

    let after = tenants.listing_of_the_other_team().await;
    assert_eq!(before, after, "the other team has what it had");
}

/// Compares the answer to a foreign value with the answers to two unknown ones. Where those two agree, it must agree
/// with them; where they differ, as times and new ids do, it may differ as well. Of prose the status alone is compared.
/// `of_unknown` has the last answer to an unknown value at this place, which serves for the next foreign value as well.
async fn compare(
    tenants: &Tenants,
    call: &Call,
    slot: &Slot,
    foreign: &str,
    of_unknown: &mut Option<Answer>,
) -> Result<(), String> {
    let in_full = slot.is_of_a_name();
    let mut difference = String::new();
    for _ in 0..TRIES {
        // This team may use any key, that of the other team as well, and then has a workspace of its own under it.
        if in_full && !slot.is_id {
            tenants.delete_own_workspace(foreign).await;
        }
        let answer_to = async |value: &str| {
            let answer = tenants.send(&call.with(tenants, slot, value)).await;
            match answer.text.contains(CANARY) {
                true => Err(format!("{value:?} shows what the other team wrote: {}", answer.text)),
                false => Ok(answer.without(value)),
            }
        };
        let before = match of_unknown.take() {
            Some(before) => before,
            None => answer_to(&tenants.unknown_like(foreign)).await?,
        };
        let of_foreign = answer_to(foreign).await?;
        // The last value is an unknown one, so what a call leaves behind names no foreign one.
        let after = answer_to(&tenants.unknown_like(foreign)).await?;
        match disagreement(&before, &of_foreign, &after, in_full) {
            None => {
                *of_unknown = Some(after);
                return Ok(());
            }
            Some(found) => difference = format!("{foreign:?} is answered otherwise than an unknown value: {found}"),
        }
    }
    Err(difference)
}

fn disagreement(before: &Answer, of_foreign: &Answer, after: &Answer, in_full: bool) -> Option<String> {
    if before.status == after.status && before.status != of_foreign.status {
        return Some(format!("{} and not {}: {}", of_foreign.status, before.status, of_foreign.text));
    }
    if before.status != after.status || !in_full {
        return None;
    }
    match [before, of_foreign, after].map(|answer| serde_json::from_str::<Value>(&answer.text)) {
        [Ok(before), Ok(of_foreign), Ok(after)] => differs("", &before, &of_foreign, &after),
        _ if before.text == after.text && before.text != of_foreign.text => {
            Some(format!("{:?} and not {:?}", of_foreign.text, before.text))
        }
        _ => None,
    }
}

/// Finds a place where two documents agree and the one between them does not. Times differ from call to call, and what
/// a tool answers stands in its text once more.
fn differs(at: &str, before: &Value, between: &Value, after: &Value) -> Option<String> {
    if at.ends_with("_ms") || at == "/result/content" {
        return None;
    }
    match (before, between, after) {
        (Value::Object(before), Value::Object(between), Value::Object(after)) => {
            let names = |fields: &Map<String, Value>| fields.keys().cloned().collect::<Vec<_>>();
            if names(before) == names(after) && names(before) != names(between) {
                return Some(format!("at {at:?} the fields {:?} and not {:?}", names(between), names(before)));
            }
            before
                .iter()
                .find_map(|(name, value)| differs(&format!("{at}/{name}"), value, between.get(name)?, after.get(name)?))
        }
        (Value::Array(before), Value::Array(between), Value::Array(after)) if before.len() == after.len() => {
            if between.len() != before.len() {
                return Some(format!("at {at:?} {} items and not {}", between.len(), before.len()));
            }
            let items = before.iter().zip(between).zip(after).enumerate();
            items
                .into_iter()
                .find_map(|(n, ((before, between), after))| differs(&format!("{at}/{n}"), before, between, after))
        }
        _ => (before == after && between != before).then(|| format!("at {at:?} {between} and not {before}")),
    }
}
