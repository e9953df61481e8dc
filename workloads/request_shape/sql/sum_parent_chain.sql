WITH RECURSIVE chain(id, parent_id) AS (SELECT id, parent_id FROM org WHERE id = ?1 UNION ALL SELECT org.id, org.parent_id FROM org JOIN chain ON org.id = chain.parent_id) SELECT sum(id) FROM chain
