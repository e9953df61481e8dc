SELECT count(*) FROM tag WHERE org_id = ?1
