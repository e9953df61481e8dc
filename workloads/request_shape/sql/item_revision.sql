SELECT revision FROM item WHERE id = ?1
