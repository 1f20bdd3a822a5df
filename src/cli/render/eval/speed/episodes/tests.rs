use super::*;
use crate::eval::speed::episodes::report::{
    ConsolidationSpeed, EpisodesFromTables, FilledEpisodes, ServedEpisodes, WithoutEpisodes, WorkingSpeed,
};

fn ms(p50: f64) -> LatencyPercentiles {
    LatencyPercentiles { p50: Some(p50), p95: Some(2.0 * p50), p99: Some(3.0 * p50) }
}

fn bank(episodes: u32) -> EpisodeBankSpeed {
    let slower = f64::from(episodes) / 10_000.0;
    EpisodeBankSpeed {
        episodes,
        memories: episodes.min(100_000),
        patterns: 10_000,
        without: WithoutEpisodes { memory_query_ms: ms(3.0) },
        filled: FilledEpisodes {
            per_second: 4_000.0,
            upkeep_seconds: 12.5,
            rss_peak_bytes: Some(500_000_000),
            body_bytes: 4_200.0,
            disk_bytes: 4_600.0,
            vector_disk_bytes: 1_400.0,
        },
        served: ServedEpisodes {
            first_search_ms: 400.0 * slower,
            by_id_ms: ms(1.5),
            by_attributes_ms: ms(20.0),
            semantic_ms: ms(5.0 * slower),
            patterns_ms: ms(2.0),
            context_ms: ms(25.0),
            embedding_ms: ms(6.0),
            memory_query_ms: ms(3.1),
            record_ms: ms(18.0),
            semantic_after_record_ms: ms(7.0 * slower),
            resident_bytes: 1_400 * u64::from(episodes),
            rss_bytes: None,
        },
        from_tables: EpisodesFromTables { by_attributes_ms: ms(30.0), semantic_ms: ms(80.0 * slower), rss_bytes: None },
        consolidated: ConsolidationSpeed {
            looked_at: u64::from(episodes.min(100_000)),
            changes: 120,
            seconds: 61.0,
            rss_peak_bytes: Some(800_000_000),
            at_rest: SearchTimes { memory_query_ms: ms(3.0), semantic_ms: ms(5.0) },
            beside: SearchTimes { memory_query_ms: ms(4.5), semantic_ms: ms(9.0) },
            searches: 321,
        },
    }
}

#[test]
fn each_figure_stands_beside_its_bar() {
    let report = EpisodeSpeedReport {
        seed: 1,
        cores: 2,
        build: "release",
        resident_mb: 768,
        working: WorkingSpeed { tasks: 200, operation_ms: ms(0.2), synced_ms: ms(0.9) },
        banks: vec![bank(10_000), bank(100_000)],
    };
    insta::assert_snapshot!(eval_episode_speed(&report));
}
