SELECT count(*) FROM item_field JOIN field ON field.id = item_field.field_id WHERE item_field.item_id = ?1
