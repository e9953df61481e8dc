SELECT id, parent_id, slug, name, region, country, type FROM org WHERE id = ?1
