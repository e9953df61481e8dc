SELECT parent_id FROM org WHERE id = ?1
