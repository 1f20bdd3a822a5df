//! The model's thread: loads the model, then works off the lanes until they are closed. A panic ends it, not the
//! process: whoever waits or comes later is told why.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::encoder::Encoder;
use super::job::Job;
use super::lanes::Lanes;
use crate::heap;

pub(crate) fn run<E: Encoder>(lanes: &Lanes, load: impl FnOnce() -> Result<E, String>) {
    let mut encoder = match catch(load) {
        Ok(Ok(encoder)) => encoder,
        Ok(Err(reason)) | Err(reason) => return give_up(lanes, &reason),
    };
    lanes.ready();
    heap::give_back();
    while let Some(job) = lanes.next() {
        if let Err(reason) = serve(lanes, &mut encoder, job) {
            return give_up(lanes, &reason);
        }
    }
}

/// An error of the model concerns this job alone; `Err` is a panic, after which the model is not to be trusted.
fn serve(lanes: &Lanes, encoder: &mut impl Encoder, job: Job) -> Result<(), String> {
    match job {
        Job::Query(query) => match catch(|| query.compute(encoder)) {
            Ok(Ok(vector)) => query.finish(vector),
            Ok(Err(reason)) => Job::Query(query).fail(&reason),
            Err(reason) => {
                Job::Query(query).fail(&reason);
                return Err(reason);
            }
        },
        Job::Documents(mut documents) => match catch(|| documents.step(encoder)) {
            Ok(Ok(true)) => {
                documents.finish();
                if lanes.idle() {
                    heap::give_back();
                }
            }
            Ok(Ok(false)) => lanes.resume(documents),
            Ok(Err(reason)) => Job::Documents(documents).fail(&reason),
            Err(reason) => {
                Job::Documents(documents).fail(&reason);
                return Err(reason);
            }
        },
    }
    Ok(())
}

fn give_up(lanes: &Lanes, reason: &str) {
    tracing::error!(reason, "no embedding model: memories are found by their words alone");
    lanes.fail(reason);
}

/// What is left behind by a panic is dropped or never used again, so unwinding past it is safe.
fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| format!("panicked: {}", message(&*panic)))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
