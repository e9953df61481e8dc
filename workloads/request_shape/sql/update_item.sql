UPDATE item SET revision = revision + 1, title = ?1 WHERE id = ?2
