//! The time of an answer tells nothing either: an id of another team takes as long as one that nobody has.

use std::time::{Duration, Instant};

use super::surface::{Request, Surface, slots};
use super::tenants::Tenants;

/// The number of requests. Half of them are for the id of another team, and the others for unknown ones, in turn.
const REQUESTS: usize = 1_000;
/// A difference counts when it is seen each time: a shared machine may be slower for a moment.
const TRIES: usize = 3;
/// The medians differ by less than this share of the spread of the times, which is the distance of their quartiles. The
/// error of the difference of two medians of 1,000 requests is about 0.04 of it.
const MOST_OF_SPREAD: f64 = 0.25;

struct Times {
    median: Duration,
    spread: Duration,
}

impl Times {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: usize| times[times.len() * share / 4];
        Self { median: at(2), spread: at(3) - at(1) }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_of_another_team_takes_as_long_as_one_that_nobody_has() {
    let tenants = Tenants::start().await;
    let surface = Surface::of(&tenants).await;
    let mut timed = 0;
    for call in surface.calls.iter().filter(|call| call.reads_in_its_path()) {
        let slots = slots(call);
        let slot = slots.iter().find(|slot| slot.is_id).unwrap();
        let foreign = tenants.one_that_is_there(|id| call.with(&tenants, slot, id)).await;
        let mut seen = Vec::new();
        loop {
            let (share, line) = compared(&tenants, &foreign, &|id| call.with(&tenants, slot, id)).await;
            seen.push(line);
            if share < MOST_OF_SPREAD {
                break;
            }
            assert!(seen.len() < TRIES, "{call}: {seen:#?}");
        }
        timed += 1;
    }
    assert!(timed >= 4, "{timed}");
}

/// Times both kinds of requests, and says how far their medians are apart, as a share of the spread and in words.
async fn compared(tenants: &Tenants, foreign: &str, request: &dyn Fn(&str) -> Request) -> (f64, String) {
    let mut times = [Vec::with_capacity(REQUESTS / 2), Vec::with_capacity(REQUESTS / 2)];
    for n in 0..REQUESTS {
        let unknown = tenants.unknown_like(foreign);
        // The two take turns at coming first, so that neither profits from the other.
        let which = (n + n / 2) % 2;
        let request = request(if which == 0 { foreign } else { &unknown });
        let began = Instant::now();
        let answer = tenants.send(&request).await;
        times[which].push(began.elapsed());
        assert_eq!(answer.status, 404, "{}: {}", request.path, answer.text);
    }
    let [of_foreign, of_unknown] = times.map(Times::of);
    let spread = of_foreign.spread.max(of_unknown.spread);
    let share = of_foreign.median.abs_diff(of_unknown.median).as_secs_f64() / spread.as_secs_f64();
    let medians = format!("{:?} for a foreign id, {:?} for an unknown one", of_foreign.median, of_unknown.median);
    (share, format!("{medians}: {share:.3} of the spread of {spread:?}"))
}
