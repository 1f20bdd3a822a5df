//! Tests of the protocol's edge that need more than one of its modules. They are in this package because they take what
//! no process takes from outside: a clock that the test turns, or a handler that is not the product's.

mod conformance;
mod life_of_a_lesson;
mod listening;
