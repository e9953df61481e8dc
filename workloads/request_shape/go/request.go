package main

import "strconv"

const slug = "harbour-hall"

// reader runs reads and adds up what they saw. After an error, or as many as were wanted, it runs none any more.
type reader struct {
	db   *database
	left int64
	sum  uint64
	err  error
}

func (r *reader) read(which statement, values ...any) int64 {
	if r.left == 0 || r.err != nil {
		return 0
	}
	r.left--
	return r.readFirst(which, values...)
}

func (r *reader) readFirst(which statement, values ...any) int64 {
	read, err := r.db.query(which, values...)
	r.sum += read.sum
	r.err = err
	return read.first
}

// walkParentChain is the parent lookup in the program: org by org until there is no parent. It counts as one read.
func (r *reader) walkParentChain(org int64) {
	if r.left == 0 {
		return
	}
	r.left--
	for parent := org; parent != 0 && r.err == nil; {
		parent = r.readFirst(parentOfOrg, parent)
	}
}

// adminItemEdit is the request of an admin page: reads only. It returns the sum of what it read.
func adminItemEdit(db *database, item int64) (uint64, error) {
	r := reader{db: db, left: db.shape.reads}
	// The list from its start again, until as many reads are done as the shape says.
	for r.left > 0 && r.err == nil {
		r.read(staffByID, 1)
		org := r.read(orgBySlug, slug)
		r.read(itemByOrgAndID, org, item)
		r.read(countSponsors, org)
		r.read(countTags, org)
		r.read(countTaxes, org)
		if db.shape.parentLookup == "recursive" {
			r.read(sumParentChain, org)
		} else {
			r.walkParentChain(org)
		}
		r.read(countActiveFees, 403, 411, 418)
		r.read(countActiveProducts, "ticket", "pass")
		r.read(countAddons, item, "item")
		r.read(feeByID, 1)
		r.read(orgByID, 403)
		r.read(orgByID, 418)
		r.read(productByID, 1)
		r.read(feeByID, 2)
		r.read(countFields, org)
		r.read(countItemFields, item)
		r.read(countFields, org)
		r.read(countActiveDiscounts, org)
		r.read(countDiscountItems, item)
		r.read(countActiveDiscounts, org)
		r.read(themeByID, 1)
		r.read(countNotices, "SE", "venue")
		r.read(countConfigIssues, org)
		r.read(countItems, org)
		r.read(itemRevision, item)
	}
	return r.sum, r.err
}

// adminItemUpdate is the page's update; i goes into the title. After an error the transaction is rolled back.
func adminItemUpdate(db *database, i, item int64) (uint64, error) {
	sum, err := readAndUpdate(db, i, item)
	if err != nil && !db.conn.GetAutocommit() {
		if err := db.execute(rollback); err != nil {
			return 0, err
		}
	}
	return sum, err
}

func readAndUpdate(db *database, i, item int64) (uint64, error) {
	if err := db.execute(beginImmediate); err != nil {
		return 0, err
	}
	r := reader{db: db, left: 6}
	r.read(staffByID, 1)
	org := r.read(orgBySlug, slug)
	r.read(itemByOrgAndID, org, item)
	r.read(countAddons, item, "item")
	r.read(countDiscountItems, item)
	r.read(countTags, org)
	if r.err != nil {
		return 0, r.err
	}
	title := "Updated item " + strconv.FormatInt(i, 10)
	for k := range db.shape.writes {
		if err := db.execute(updateItem, title, (item-1+k)%db.shape.items()+1); err != nil {
			return 0, err
		}
	}
	return r.sum, db.execute(commit)
}
