SELECT id, name, css FROM theme WHERE id = ?1
