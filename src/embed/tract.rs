//! A sentence-transformer in ONNX form on tract, in pure Rust. Encoders of one model share its weights.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rayon::{ThreadPool, ThreadPoolBuilder, Yield};
use tokenizers::{Encoding, Tokenizer};
use tract_linalg::multithread::{self, Executor};
use tract_onnx::prelude::*;
use tract_onnx::tract_hir::internal::*;

use super::encoder::{Encoder, TextPiece, one};
use super::graph::SENTENCE;
use super::model::{Model, Pooling};
use super::{chunking, condense};

/// The outputs that are wanted of a model with several, best first. Their order is fastembed's, but for [`SENTENCE`].
const OUTPUTS: [&str; 3] = [SENTENCE, "text_embeds", "last_hidden_state"];

/// A product of matrices of this many panels (some 16 rows by some 12 columns) is computed on several threads, where
/// there are any. A layer of a query of ten words has some 50 panels.
const PANELS_WORTH_THREADS: usize = 16;

/// A query has at most this many threads, because its parts are small.
const QUERY_THREADS: usize = 4;

/// The kinds of inputs that a model may have.
#[derive(Debug, Clone, Copy)]
enum ModelInput {
    Ids,
    Mask,
    Types,
}

pub(crate) struct TractModel {
    tokenizer: Tokenizer,
    inputs: Vec<ModelInput>,
    /// The plan for a single text. With one shape less unknown it takes up to a quarter less time than a batch of one.
    one: Arc<TypedSimplePlan>,
    /// The plan for several short texts at once. It has weights of its own.
    many: Option<Arc<TypedSimplePlan>>,
    /// The threads for one query at a time: a thread that waits for its part of a query would begin with another one,
    /// and tract cannot run two on one thread. There are none where there is one thread.
    threads: Option<Mutex<Arc<ThreadPool>>>,
    pooling: Pooling,
    window: usize,
    room: usize,
    pad: u32,
}

impl TractModel {
    /// Loads a model. A query gets `threads`, up to [`QUERY_THREADS`]. With `batches`, many short texts are faster, at
    /// the price of a second copy of the weights (43 MB of the built-in model).
    pub(crate) fn load(model: &Model, threads: usize, batches: bool) -> Result<Self, String> {
        multithread::set_threading_panel_threshold(PANELS_WORTH_THREADS);
        let pool = || {
            ThreadPoolBuilder::new().num_threads(threads.min(QUERY_THREADS)).thread_name(|_| "embedder".into()).build()
        };
        let threads = (threads > 1).then(pool).transpose().map_err(|error| error.to_string())?;
        let (one, inputs) = plan(&model.onnx, false).map_err(|error| format!("{error:#}"))?;
        let many = batches.then(|| plan(&model.onnx, true)).transpose().map_err(|error| format!("{error:#}"))?;
        Ok(Self {
            tokenizer: chunking::tokenizer(&model.tokenizer)?,
            inputs,
            one,
            many: many.map(|(plan, _)| plan),
            threads: threads.map(|threads| Mutex::new(Arc::new(threads))),
            pooling: model.pooling,
            window: model.window,
            room: model.room,
            pad: model.pad.id,
        })
    }

    /// Makes one vector for each row of token ids. Shorter rows are filled up.
    fn run(&self, state: &mut TypedSimpleState, rows: &[Vec<u32>]) -> TractResult<Vec<Vec<f32>>> {
        let width = rows.iter().map(Vec::len).max().unwrap_or_default();
        let shape = [rows.len(), width];
        let filled = |value: &dyn Fn(&Vec<u32>, usize) -> i64| -> TractResult<TValue> {
            let all: Vec<i64> = rows.iter().flat_map(|row| (0..width).map(|at| value(row, at))).collect();
            Ok(Tensor::from_shape(&shape, &all)?.into())
        };
        let inputs = self.inputs.iter().map(|input| match input {
            ModelInput::Ids => filled(&|row, at| i64::from(row.get(at).copied().unwrap_or(self.pad))),
            ModelInput::Mask => filled(&|row, at| i64::from(at < row.len())),
            ModelInput::Types => filled(&|_, _| 0),
        });
        let outputs = match state.run(inputs.collect::<TractResult<_>>()?) {
            Ok(outputs) => outputs,
            Err(error) => {
                state.reset_turn()?;
                return Err(error);
            }
        };
        let output = outputs.first().context("the model has no output")?;
        let (shape, values) = (output.shape(), output.view().as_slice::<f32>()?.to_vec());
        let dims = shape.last().copied().unwrap_or_default();
        let fits = matches!(shape.len(), 2 | 3) && shape.first() == Some(&rows.len()) && !values.is_empty();
        ensure!(fits, "the model's output has the shape {shape:?} for {} texts", rows.len());
        let of_text = values.chunks(values.len() / rows.len());
        Ok(of_text.zip(rows).map(|(tokens, row)| pooled(tokens, dims, row.len(), self.pooling)).collect())
    }
}

/// Makes the plan, and lists what its inputs are, in order.
fn plan(onnx: &[u8], batches: bool) -> TractResult<(Arc<TypedSimplePlan>, Vec<ModelInput>)> {
    // Declared shapes name dimensions of their own, which would contradict those that are set here.
    let reader = tract_onnx::onnx().with_ignore_output_shapes(true).with_ignore_value_info(true);
    let mut model = reader.model_for_read(&mut &*onnx)?;
    let (texts, tokens) = (model.symbols.new_with_prefix("texts"), model.symbols.new_with_prefix("tokens"));
    let texts: TDim = if batches { texts.into() } else { 1.into() };
    let mut inputs = Vec::new();
    for (number, outlet) in model.input_outlets()?.to_vec().into_iter().enumerate() {
        inputs.push(match &*model.node(outlet.node).name {
            "input_ids" => ModelInput::Ids,
            "attention_mask" => ModelInput::Mask,
            "token_type_ids" => ModelInput::Types,
            other => bail!("the model wants {other:?}; known are input_ids, attention_mask and token_type_ids"),
        });
        let shape = tvec![texts.clone(), tokens.clone().into()];
        model.set_input_fact(number, InferenceFact::dt_shape(i64::datum_type(), shape))?;
    }
    let outlets = model.output_outlets()?.to_vec();
    let label = |outlet: &OutletId| model.outlet_label(*outlet).unwrap_or(&model.node(outlet.node).name).to_owned();
    let wanted = match outlets.as_slice() {
        [only] => *only,
        several => {
            let names: Vec<String> = several.iter().map(label).collect();
            let found = OUTPUTS.iter().find_map(|wanted| names.iter().position(|name| name == wanted));
            several[found.with_context(|| format!("the model gives {names:?}; wanted is one of {OUTPUTS:?}"))?]
        }
    };
    model.select_output_outlets(&[wanted])?;
    Ok((model.into_optimized()?.into_runnable()?, inputs))
}

/// Pools the vectors of tokens into one of length 1. `values` holds those of the tokens one after another, or that of
/// the text as a whole.
fn pooled(values: &[f32], dims: usize, tokens: usize, pooling: Pooling) -> Vec<f32> {
    let mut vector = values[..dims].to_vec();
    if pooling == Pooling::Mean {
        for token in values.chunks(dims).take(tokens).skip(1) {
            vector.iter_mut().zip(token).for_each(|(sum, x)| *sum += x);
        }
    }
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    vector.iter_mut().for_each(|x| *x /= norm);
    vector
}

/// An encoder for one thread.
pub(crate) struct TractEncoder {
    model: Arc<TractModel>,
    one: TypedSimpleState,
    many: Option<TypedSimpleState>,
}

impl TractEncoder {
    pub(crate) fn new(model: &Arc<TractModel>) -> Result<Self, String> {
        let state = |plan: &Arc<TypedSimplePlan>| plan.spawn().map_err(|error| format!("{error:#}"));
        let (one, many) = (state(&model.one)?, model.many.as_ref().map(state).transpose()?);
        Ok(Self { model: Arc::clone(model), one, many })
    }

    /// Lists the token ids of a text, of which there is at least one. A text without tokens, where a tokenizer adds
    /// none, gets the token that fills up a batch.
    fn ids(&self, text: &str) -> Result<Vec<u32>, String> {
        let encoding: Encoding = self.model.tokenizer.encode(text, true).map_err(|error| error.to_string())?;
        let mut ids = encoding.get_ids().to_vec();
        // Cut out of its text, a piece may have a token more.
        ids.truncate(self.model.window);
        if ids.is_empty() {
            ids.push(self.model.pad);
        }
        Ok(ids)
    }
}

impl Encoder for TractEncoder {
    fn cut(&self, text: &str) -> Result<Vec<TextPiece>, String> {
        chunking::cut(&self.model.tokenizer, text, self.model.room)
    }

    fn vectors(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        let rows = texts.iter().map(|text| self.ids(text)).collect::<Result<Vec<_>, String>>()?;
        let vectors = match &mut self.many {
            Some(many) if rows.len() > 1 => self.model.run(many, &rows),
            _ => {
                let each = rows.chunks(1).map(|row| self.model.run(&mut self.one, row));
                each.collect::<TractResult<Vec<_>>>().map(|each| each.concat())
            }
        };
        vectors.map_err(|error| format!("{error:#}"))
    }

    fn condensed<'t>(&self, query: &'t str) -> Result<Cow<'t, str>, String> {
        condense::condensed(&self.model.tokenizer, query, self.model.room)
    }

    fn vector_of_query(&mut self, text: &str) -> Result<Vec<f32>, String> {
        let model = Arc::clone(&self.model);
        let Some(Ok(threads)) = model.threads.as_ref().map(Mutex::try_lock) else { return one(self.vectors(&[text])?) };
        let executor = Executor::MultiThread(Arc::clone(&threads));
        one(awake(&threads, || multithread::multithread_tract_scope(executor, || self.vectors(&[text])))?)
    }
}

/// Does the work in the pool, whose other threads look for a part of it until it is done. A query has a hundred parts
/// of some twenty microseconds, and a thread that sleeps between two of them wakes up too late for the next.
fn awake<T: Send>(pool: &ThreadPool, work: impl FnOnce() -> T + Send) -> T {
    let done = AtomicBool::new(false);
    pool.install(|| {
        let own = rayon::current_thread_index();
        rayon::scope(|scope| {
            scope.spawn_broadcast(|_, thread| {
                while Some(thread.index()) != own && !done.load(Ordering::Relaxed) {
                    if rayon::yield_now() != Some(Yield::Executed) {
                        std::thread::yield_now();
                    }
                }
            });
            // a panic goes on when the others have ended
            let worked = catch_unwind(AssertUnwindSafe(work));
            done.store(true, Ordering::Relaxed);
            worked.unwrap_or_else(|panic| resume_unwind(panic))
        })
    })
}

#[cfg(test)]
mod tests;
