use super::*;
use crate::eval::report::Ingest;
use crate::eval::speed::report::{DuringUpkeep, Filled, FromTables, QueryParts, QueryTimes, Ratios, Served, Texts};

fn ms(p50: f64) -> LatencyPercentiles {
    LatencyPercentiles { p50: Some(p50), p95: Some(2.0 * p50), p99: Some(3.0 * p50) }
}

fn bank(rows: u32, ms_a_query: f64) -> BankSpeed {
    let parts_ms = QueryParts {
        candidates: ms(ms_a_query / 2.0),
        vector_list: ms(ms_a_query / 4.0),
        text_list: ms(ms_a_query / 5.0),
        bodies: ms(ms_a_query / 4.0),
        fusion_and_scores: ms(ms_a_query / 4.0),
    };
    let served = Served {
        open_ms: 80.0,
        first_answer_ms: 120.0,
        resident_after_ms: None,
        resident_bytes: 1_000 * u64::from(rows),
        rss_bytes: Some(200_000_000),
        rss_peak_bytes: None,
        query_ms: QueryTimes {
            without_embedding: ms(ms_a_query),
            with_embedding: ms(ms_a_query + 6.0),
            embedding: ms(6.0),
        },
        parts_ms,
        upkeep: DuringUpkeep {
            fresh_rows: 5_000,
            commit_ms: ms(4.0),
            upkeep_ms: 900.0,
            queries: 300,
            query_ms: ms(1.5 * ms_a_query),
        },
        nearest: Vec::new(),
    };
    let from_tables =
        FromTables { query_ms: ms(9.0 * ms_a_query), parts_ms, rss_bytes: Some(150_000_000), nearest: Vec::new() };
    BankSpeed {
        rows,
        filled: Filled {
            ingest: Ingest { seconds: 0.05, per_second: 20_000.0, upkeep_seconds: 1.5 },
            rss_peak_bytes: Some(300_000_000),
            fragments: 3,
            index_lag_rows: 0,
        },
        disk_bytes: 2_500 * u64::from(rows),
        ratios: Ratios::of(&served, &from_tables, 0.3),
        served,
        from_tables,
        recall_at_10: Some(0.998),
        recall_at_10_from_tables: Some(1.0),
        exact_scan_ms: 0.3,
    }
}

#[test]
fn banks_stand_side_by_side() {
    let texts = Texts { texts: 256, embedded_per_second: 100.0, stored_per_second: 95.0, stored_to_embedded: 0.95 };
    let mut report = SpeedReport::new(1, texts, vec![bank(1_000, 1.0), bank(1_000_000, 2.5)]);
    (report.cores, report.build) = (2, "release");
    insta::assert_snapshot!(eval_speed(&report));
}
