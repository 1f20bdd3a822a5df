//! Scenarios of several clients, over the real store and the real embedding model, with a clock that the test turns.
//! They are in this package because no process takes such a clock from outside.

mod life_of_a_lesson;
