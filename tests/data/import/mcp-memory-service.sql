-- Written by mcp-memory-service 12.4.0: its tables of memories and of links, without the search index.
CREATE TABLE memories (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        content_hash TEXT UNIQUE NOT NULL,
                        content TEXT NOT NULL,
                        tags TEXT,
                        memory_type TEXT,
                        metadata TEXT,
                        created_at REAL,
                        updated_at REAL,
                        created_at_iso TEXT,
                        updated_at_iso TEXT,
                        deleted_at REAL DEFAULT NULL
                    , store TEXT DEFAULT 'default', parent_id TEXT, version INTEGER DEFAULT 1, confidence REAL DEFAULT 1.0, last_accessed INTEGER, superseded_by TEXT, embedding_pending INTEGER NOT NULL DEFAULT 0);
INSERT INTO memories VALUES(1,'3826341b6c443336a5d62ecb4e1935fd9f8775b6b67ffa4ffab1fb3370846f62','SQLite writes from two threads fail with "database is locked"; set busy_timeout and use one writer','sqlite,python','gotcha','{"source": "agent"}',1741000000.25,1795665839.2729316,'2025-03-03T11:06:40.250000Z','2026-11-26T04:03:59.272932Z',NULL,'default',NULL,1,1.0,NULL,NULL,0);
INSERT INTO memories VALUES(2,'8ee9f662d43aaf316dfee6315616dd860157adadac79dd91871ea1313f952070','Write the failing test first, then the fix, then run the whole module','testing','best_practice','{}',1741000000.25,1795665839.2732587,'2025-03-03T11:06:40.250000Z','2026-11-26T04:03:59.273259Z',NULL,'default',NULL,1,1.0,NULL,NULL,0);
INSERT INTO memories VALUES(3,'316f38941fcc475c6ee0d0a251394855e67767c967a24e8677b0eb3fa7989675','We chose tokio over async-std because the drivers need it','rust','decision','{}',1741000000.25,1795665839.2732964,'2025-03-03T11:06:40.250000Z','2026-11-26T04:03:59.273296Z',NULL,'default',NULL,1,1.0,NULL,NULL,0);
INSERT INTO memories VALUES(4,'d63a5731351bacb998f44fc9b2d1e433e5648258e8297d6679eba008ad78a360','The office is closed on Fridays','untagged','note','{}',1741000000.25,1795665839.2733161,'2025-03-03T11:06:40.250000Z','2026-11-26T04:03:59.273316Z',NULL,'default',NULL,1,1.0,NULL,NULL,0);
INSERT INTO memories VALUES(5,'b4bd6a390f6958b05c5419361a1b6d57cddd75bcc81f6d35784d8d1005f76681','Deploy from the release branch only','deploy','workflow','{}',1741000000.25,1795665839.2733345,'2025-03-03T11:06:40.250000Z','2026-11-26T04:03:59.273335Z',NULL,'default',NULL,1,1.0,NULL,NULL,0);
INSERT INTO memories VALUES(6,'dd775e4dc1620e32d5a68367f5119bef36867782ad2ab0cbe8d3b1b6027ab0e6','An old note that was deleted later','untagged','note','{}',1741000000.25,1795665839.2733495,'2025-03-03T11:06:40.250000Z','2026-11-26T04:03:59.273350Z',1795665839.2903833,'default',NULL,1,1.0,NULL,NULL,0);
INSERT INTO memories VALUES(7,'0132058b513a46a56f2b2db43c999618e8465fd7d5016a5ba770c50c2c231a28','Use port 8080 for the gateway','gateway','configuration','{"superseded_by": "9447b3a285bb43644f83e7ae7ca22a2019fa84b28909c21a71e24f3ee3eff0f3"}',1741000000.25,1795665839.273363,'2025-03-03T11:06:40.250000Z','2026-11-26T04:03:59.273363Z',NULL,'default',NULL,1,1.0,NULL,'9447b3a285bb43644f83e7ae7ca22a2019fa84b28909c21a71e24f3ee3eff0f3',0);
INSERT INTO memories VALUES(8,'9447b3a285bb43644f83e7ae7ca22a2019fa84b28909c21a71e24f3ee3eff0f3','Use port 8443 for the gateway','gateway','configuration','{}',1795665839.290841,1795665839.290841,'2026-11-26T04:03:59.290841Z','2026-11-26T04:03:59.290841Z',NULL,'default','0132058b513a46a56f2b2db43c999618e8465fd7d5016a5ba770c50c2c231a28',2,1.0,NULL,NULL,0);
CREATE TABLE memory_graph (
    source_hash TEXT NOT NULL,
    target_hash TEXT NOT NULL,
    similarity REAL NOT NULL,
    connection_types TEXT NOT NULL,  -- JSON array: ["semantic", "temporal", "causal", "thematic"]
    metadata TEXT,                   -- JSON object: {discovery_date, confidence, context}
    created_at REAL NOT NULL, relationship_type TEXT DEFAULT 'related',
    PRIMARY KEY (source_hash, target_hash)
);
