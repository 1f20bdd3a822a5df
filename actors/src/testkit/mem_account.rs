//! An account of tokens in memory.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use jiff::civil::Date;

use crate::ports::TokenAccount;

/// One account for all clones.
#[derive(Clone, Default)]
pub struct MemAccount {
    spent: Arc<Mutex<Option<(Date, u64)>>>,
}

impl MemAccount {
    /// Returns the last day and what was spent on it.
    pub fn spent(&self) -> Option<(Date, u64)> {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenAccount for MemAccount {
    fn set_aside(&self, day: Date, tokens: u64, cap: u64) -> BoxFuture<'_, io::Result<bool>> {
        let mut account = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = account.filter(|(known, _)| *known == day).map_or(0, |(_, spent)| spent) + tokens;
        if spent <= cap {
            *account = Some((day, spent));
        }
        ready(Ok(spent <= cap)).boxed()
    }

    fn settle(&self, day: Date, set_aside: u64, spent: u64) -> BoxFuture<'_, io::Result<()>> {
        let mut account = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, all)) = account.as_mut().filter(|(known, _)| *known == day) {
            *all = (*all + spent).saturating_sub(set_aside);
        }
        ready(Ok(())).boxed()
    }
}
