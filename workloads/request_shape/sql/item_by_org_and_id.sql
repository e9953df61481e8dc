SELECT id, org_id, title, status, revision FROM item WHERE org_id = ?1 AND id = ?2
