//! The model's threads: the first loads the model, then all work off the lanes until they are closed. A panic ends the
//! work, not the process: whoever waits or comes later is told why.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use super::encoder::Encoder;
use super::job::EmbedJob;
use super::lanes::Lanes;
use reasoning_bank_store::allocator;

/// Loads encoders in the background, once the lanes want them. Each gets a thread.
pub(crate) fn start<E: Encoder>(lanes: &Arc<Lanes>, load: impl FnOnce() -> Result<Vec<E>, String> + Send + 'static) {
    let of_thread = Arc::clone(lanes);
    spawn(lanes, move || {
        if !of_thread.wait_until_wanted() {
            return;
        }
        let encoders = match catch(load) {
            Ok(Ok(encoders)) => encoders,
            Ok(Err(reason)) | Err(reason) => return give_up(&of_thread, &reason),
        };
        of_thread.ready();
        allocator::return_freed();
        for encoder in encoders {
            let lanes = Arc::clone(&of_thread);
            spawn(&of_thread, move || run(&lanes, encoder));
        }
    });
}

fn spawn(lanes: &Lanes, work: impl FnOnce() + Send + 'static) {
    if let Err(error) = thread::Builder::new().name("embedder".into()).spawn(work) {
        lanes.fail(&format!("no thread for the embedding model: {error}"));
    }
}

fn run(lanes: &Lanes, mut encoder: impl Encoder) {
    while let Some(job) = lanes.next() {
        if let Err(reason) = serve(lanes, &mut encoder, job) {
            return give_up(lanes, &reason);
        }
    }
}
/// Works on a job. An error of the model concerns this job alone; `Err` is a panic, after which the model is not to be
/// trusted.
fn serve(lanes: &Lanes, encoder: &mut impl Encoder, job: EmbedJob) -> Result<(), String> {
    match job {
        EmbedJob::Query(query) => match catch(|| query.compute(encoder)) {
            Ok(Ok(vector)) => query.finish(vector),
            Ok(Err(reason)) => EmbedJob::Query(query).fail(&reason),
            Err(reason) => {
                EmbedJob::Query(query).fail(&reason);
                return Err(reason);
            }
        },
        EmbedJob::Documents(mut documents) => match catch(|| documents.step(encoder)) {
            Ok(Ok(true)) => {
                documents.finish();
                if lanes.idle() {
                    allocator::return_freed();
                }
            }
            Ok(Ok(false)) => lanes.resume(documents),
            Ok(Err(reason)) => EmbedJob::Documents(documents).fail(&reason),
            Err(reason) => {
                EmbedJob::Documents(documents).fail(&reason);
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

/// Catches a panic. What it leaves behind is dropped or never used again, so unwinding past it is safe.
fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| format!("panicked: {}", message(&*panic)))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
