package main

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

func printRow(name string, items int64, took time.Duration, check uint64) {
	ns := took.Nanoseconds()
	nsPerItem := (ns + items/2) / items
	printLine(fmt.Sprintf("%s%s,%d,%d,%d.%03d,%d",
		casePrefix, name, items, ns/1000, nsPerItem/1000, nsPerItem%1000, int64(check)))
}

// timed sends requests 1 to the last and prints how long they took, with their check sums added up.
func timed(name string, options *options, send func(i, item int64) (uint64, error)) {
	var check uint64
	start := time.Now()
	items := options.shape.items()
	for i := int64(1); i <= options.items; i++ {
		sum, err := send(i, (i-1)%items+1)
		if err != nil {
			fail(name, err)
		}
		check += sum
	}
	printRow(name, options.items, time.Since(start), check)
}

// runSequential: one connection, requests one after another.
func runSequential(options *options) {
	db := openDatabase(options)
	printLine("case,items,micros,us_per_item,check")

	start := time.Now()
	db.seed()
	took := time.Since(start)
	// Rows changed since the connection was opened: all of them are the seed's.
	printRow("seed_dummy_data", db.conn.TotalChanges(), took, db.sumEveryRow())

	timed("admin_item_edit", options, func(_, item int64) (uint64, error) { return adminItemEdit(db, item) })
	timed("admin_item_update", options, func(i, item int64) (uint64, error) { return adminItemUpdate(db, i, item) })

	db.close()
	if options.statementCounts {
		db.counts.print()
	}
}

// printTrace prints one request of each kind.
func printTrace(options *options) {
	db := openDatabase(options)
	db.seed()
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprint(out, options.shape.line()) // an error is the flush's to report
	db.trace, db.request = out, "admin_item_edit"
	if _, err := adminItemEdit(db, 1); err != nil {
		fail(db.request, err)
	}
	db.request, db.step = "admin_item_update", 0
	if _, err := adminItemUpdate(db, 1, 1); err != nil {
		fail(db.request, err)
	}
	if out.Flush() != nil {
		outputFailed()
	}
	db.close()
}
