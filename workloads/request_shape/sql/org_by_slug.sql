SELECT id, parent_id, slug, name, region, country, type FROM org WHERE slug = ?1
