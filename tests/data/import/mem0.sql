-- Written by the history of mem0's Python library (mem0ai 2.2.1).
CREATE TABLE history (
                        id           TEXT PRIMARY KEY,
                        memory_id    TEXT,
                        old_memory   TEXT,
                        new_memory   TEXT,
                        event        TEXT,
                        created_at   DATETIME,
                        updated_at   DATETIME,
                        is_deleted   INTEGER,
                        actor_id     TEXT,
                        role         TEXT
                    );
INSERT INTO history VALUES('58af94ec-7564-46ae-bd2d-cf79c3238204','11111111-1111-4111-8111-111111111111',NULL,'The project uses pnpm, not npm','ADD','2025-03-01T10:00:00+00:00',NULL,0,NULL,NULL);
INSERT INTO history VALUES('ed8b0333-07c6-49be-a6ab-873587efe897','22222222-2222-4222-8222-222222222222',NULL,'Never restart the queue worker by hand: jobs get lost','ADD','2025-03-02T10:00:00+00:00',NULL,0,NULL,NULL);
INSERT INTO history VALUES('7d3047c3-c8e0-48bf-9b16-c301d1dd773e','22222222-2222-4222-8222-222222222222','Never restart the queue worker by hand: jobs get lost','Never restart the queue worker by hand: jobs get lost; drain it first with queuectl drain','UPDATE','2025-03-02T10:00:00+00:00','2025-03-05T10:00:00+00:00',0,NULL,NULL);
INSERT INTO history VALUES('52d45afc-03f6-47db-9c0d-66397f523ee2','33333333-3333-4333-8333-333333333333',NULL,'Lives in Lisbon','ADD','2025-03-03T10:00:00+00:00',NULL,0,NULL,NULL);
INSERT INTO history VALUES('89891f48-05aa-497d-9f10-e2721a6eb9a3','33333333-3333-4333-8333-333333333333','Lives in Lisbon',NULL,'DELETE',NULL,NULL,1,NULL,NULL);
