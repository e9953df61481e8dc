// go_ncruces: the request shape on github.com/ncruces/go-sqlite3, SQLite translated to Go.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/ncruces/go-sqlite3"
)

const (
	runner     = "go_ncruces"
	casePrefix = runner + "/app_request/"
)

func main() {
	defer failOnPanic()
	options := parseOptions(os.Args[1:])
	databasePath = options.path
	switch options.action {
	case runsSequential:
		runSequential(options)
	case runsConcurrent:
		runConcurrent(options)
	case printsTrace:
		printTrace(options)
	case printsInfo:
		printInfo()
	case mergesHistograms:
		mergeHistograms()
	}
	removeDatabase()
}

// databasePath is set before any goroutine is started.
var databasePath string

// printLine prints at once. Output that did not arrive is a failure: a full disk must not look like a short result.
func printLine(line string) {
	if _, err := os.Stdout.WriteString(line + "\n"); err != nil {
		outputFailed()
	}
}

func outputFailed() {
	fail("standard output", errors.New("it could not be written in full"))
}

// speaking is kept for good by the first that fails, of several workers.
var speaking sync.Mutex

// fail prints "go_ncruces: <what>: <reason>" and ends the program with exit code 1. The database is of no use then.
func fail(what string, err error) {
	reason := strings.TrimPrefix(err.Error(), "sqlite3: ")
	if code, ok := errors.AsType[sqlite3.ExtendedErrorCode](err); ok {
		reason = fmt.Sprintf("%s (SQLite error %d)", reason, code)
	}
	speaking.Lock()
	fmt.Fprintf(os.Stderr, "%s: %s: %s\n", runner, what, reason)
	removeDatabase()
	os.Exit(1)
}

// failOnPanic is deferred in every goroutine: a panic itself would end the program with 2, the code of wrong arguments.
func failOnPanic() {
	if reason := recover(); reason != nil {
		fail("panic", fmt.Errorf("%v", reason))
	}
}

func removeDatabase() {
	for _, suffix := range databaseSuffixes {
		_ = os.Remove(databasePath + suffix) // what is not there need not go
	}
}
