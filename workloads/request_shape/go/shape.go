package main

import "fmt"

// shape is what of the request can be changed; the flags are those of ../sql/README.md.
type shape struct {
	rows                      int64 // factor on the tables that grow
	extraTables, extraIndexes int64
	reads, writes             int64 // of a request
	parentLookup              string
	statementCache            string // default is fits here: the driver keeps no statements, so that a program has to
}

var (
	defaultShape = shape{rows: 1, reads: 26, writes: 1, parentLookup: "recursive", statementCache: "fits"}
	shapeFlags   = []string{
		"--rows", "--extra-tables", "--extra-indexes", "--reads", "--writes", "--parent-lookup", "--statement-cache",
	}
)

const shapeHelp = `
  --rows F               factor on the tables that grow, 1 to 1000 (1)
  --extra-tables N       more tables, 0 to 1000 (0)
  --extra-indexes N      more indexes on what the update writes, 0 to 64 (0)
  --reads N              reads of an edit, 1 to 1000 (26)
  --writes N             updates of an update request, 1 to 1000 (1)
  --parent-lookup L      recursive, or application: org by org (recursive)
  --statement-cache C    fits, default (the driver's own) or none (fits)`

// set takes one of the flags and its value. A wrong value ends the program as in parseOptions.
func (s *shape) set(flag, value string) {
	switch flag {
	case "--rows":
		s.rows = number(flag, value, 1, 1000)
	case "--extra-tables":
		s.extraTables = number(flag, value, 0, 1000)
	case "--extra-indexes":
		s.extraIndexes = number(flag, value, 0, 64)
	case "--reads":
		s.reads = number(flag, value, 1, 1000)
	case "--writes":
		s.writes = number(flag, value, 1, 1000)
	case "--parent-lookup":
		s.parentLookup = choice(flag, value, []string{"recursive", "application"})
	case "--statement-cache":
		s.statementCache = choice(flag, value, []string{"fits", "default", "none"})
	}
}

// items is how many there are: requests take them in turn.
func (s *shape) items() int64 {
	return 100 * s.rows
}

// line is the trace's first; empty for the default shape.
func (s *shape) line() string {
	if *s == defaultShape {
		return ""
	}
	return fmt.Sprintf("shape\trows=%d extra_tables=%d extra_indexes=%d reads=%d writes=%d "+
		"parent_lookup=%s statement_cache=%s\n",
		s.rows, s.extraTables, s.extraIndexes, s.reads, s.writes, s.parentLookup, s.statementCache)
}
