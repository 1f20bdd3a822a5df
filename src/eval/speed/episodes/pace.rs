//! Measuring one kind of request: many times where it is quick, fewer times where it is slow.

use std::time::{Duration, Instant};

use crate::eval::EvalError;
use crate::eval::report::LatencyPercentiles;
use crate::eval::speed::ms;

/// One kind of request is measured for about this long at most.
const LIMIT: Duration = Duration::from_secs(20);
/// The least number of requests that are measured, however long one takes.
const LEAST: u32 = 3;

/// Makes requests of one kind, one after another, `most` at most. Their numbers count from 0.
pub(super) async fn each(
    most: u32,
    request: impl AsyncFn(u32) -> Result<(), EvalError>,
) -> Result<LatencyPercentiles, EvalError> {
    let (begun, mut times) = (Instant::now(), Vec::new());
    for number in 0..most {
        if number >= LEAST && begun.elapsed() > LIMIT {
            break;
        }
        let asked = Instant::now();
        request(number).await?;
        times.push(ms(asked.elapsed()));
    }
    Ok(LatencyPercentiles::of(&times))
}
