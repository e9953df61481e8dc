SELECT count(*) FROM product WHERE active = 1 AND kind IN (?1, ?2)
