SELECT count(*) FROM discount_item JOIN discount ON discount.id = discount_item.discount_id WHERE discount_item.item_id = ?1 AND discount.active = 1
