//! The tests of significance, compared with SciPy and statsmodels: 1,000 cases each of tests/data/significance.txt.

#![allow(clippy::unwrap_used, reason = "helpers of tests are outside the functions that clippy knows as tests")]

use reasoning_bank_domain::pattern::significance::{
    ContingencyTable, benjamini_hochberg, binomial_at_least, binomial_at_most, fisher_greater, holm, mann_whitney_less,
};
use rstest::rstest;

const CASES: &str = include_str!("data/significance.txt");
const CASES_EACH: usize = 1_000;

/// The size from which on a p-value has digits that matter.
const NOTHING: f64 = 1e-30;

/// Tells whether two p-values are the same up to 1e-9 of the larger one.
fn is_same(ours: f64, theirs: f64) -> bool {
    (ours - theirs).abs() <= 1e-9 * ours.abs().max(theirs.abs()).max(NOTHING)
}

fn numbers(field: &str) -> Vec<f64> {
    field.split(',').map(|number| number.parse().unwrap()).collect()
}

/// Returns pairs of what comes out here and what came out there.
fn compared(fields: &[&str]) -> Vec<(f64, f64)> {
    let number = |place: usize| fields[place].parse::<f64>().unwrap();
    let count = |place: usize| fields[place].parse::<u64>().unwrap();
    match fields[0] {
        "binomial" => vec![
            (binomial_at_least(count(1), count(2), number(3)), number(4)),
            (binomial_at_most(count(1), count(2), number(3)), number(5)),
        ],
        "fisher" => {
            let table = ContingencyTable {
                successes: count(1),
                failures: count(2),
                other_successes: count(3),
                other_failures: count(4),
            };
            vec![(fisher_greater(table), number(5))]
        }
        "mann_whitney" => vec![(mann_whitney_less(&numbers(fields[1]), &numbers(fields[2])), number(3))],
        _ => {
            let given = numbers(fields[1]);
            let ours = benjamini_hochberg(&given).into_iter().chain(holm(&given));
            ours.zip(numbers(fields[2]).into_iter().chain(numbers(fields[3]))).collect()
        }
    }
}

#[rstest]
#[case("binomial")]
#[case("fisher")]
#[case("mann_whitney")]
#[case("several")]
fn scipy_says_the_same(#[case] test: &str) {
    let lines = CASES.lines().filter(|line| line.split(' ').next() == Some(test));
    let mut count = 0;
    for line in lines {
        count += 1;
        for (ours, theirs) in compared(&line.split(' ').collect::<Vec<_>>()) {
            assert!(is_same(ours, theirs), "{ours} is not {theirs}: {line}");
        }
    }
    assert_eq!(count, CASES_EACH);
}
