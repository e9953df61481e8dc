package main

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"
)

const (
	// single_writer: nobody waits behind the one that writes, so that it may wait as long as it takes.
	writerPatience = time.Minute
	// open_read: above the millisecond that Go's timers may be late.
	awakeBeforeDue = 2 * time.Millisecond
)

// job is an update handed to the goroutine that owns the one writing connection, and where its result goes.
type job struct {
	i, item int64
	result  chan<- error
}

type run struct {
	options    *options
	opened     sync.WaitGroup // workers whose connection is not open yet
	started    chan struct{}  // closed when the window is set
	begin, end time.Duration  // the measured window, on the clock of now
	finished   atomic.Int32   // workers whose requests of the window have all ended
	jobs       chan job       // single_writer
}

type worker struct {
	run                  *run
	index                int64
	db                   *database  // nil: its requests are jobs
	result               chan error // of its last job
	latencies, busyWaits histogram
}

var epoch = time.Now()

// now is the monotonic clock alone; time.Now would read two.
func now() time.Duration {
	return time.Since(epoch)
}

func (r *run) writes(i int64) bool {
	return r.options.load == "write" || r.options.load == "single_writer" || r.options.load == "mixed" && i%10 == 9
}

// writeForAll returns what its connection has counted.
func (r *run) writeForAll() *counts {
	patient := *r.options
	patient.busyTimeout = writerPatience
	db := openDatabase(&patient)
	for job := range r.jobs {
		_, err := adminItemUpdate(db, job.i, job.item)
		job.result <- err
	}
	db.close()
	return &db.counts
}

// due is for open_read: request k of all workers is due k / rate seconds after the warm-up has begun; the workers take them
// in turn.
func (w *worker) due(i int64) time.Duration {
	options := w.run.options
	k := i*int64(options.workers) + w.index
	second := int64(time.Second)
	return w.run.begin - options.warmup + time.Duration(k/options.rate*second+k%options.rate*second/options.rate)
}

// waitUntil sleeps until shortly before, then asks the clock, so that the timer's slack is not measured.
func waitUntil(when time.Duration) {
	for left := when - now(); left > 0; left = when - now() {
		if left > awakeBeforeDue {
			time.Sleep(left - awakeBeforeDue)
		} else {
			runtime.Gosched()
		}
	}
}

func (w *worker) send(i int64) error {
	item := (37*w.index+i)%w.run.options.shape.items() + 1
	var err error
	switch {
	case w.db == nil:
		w.run.jobs <- job{i, item, w.result}
		err = <-w.result
	case w.run.writes(i):
		_, err = adminItemUpdate(w.db, i, item)
	default:
		_, err = adminItemEdit(w.db, item)
	}
	return err
}

func (w *worker) work() {
	defer failOnPanic()
	r, load := w.run, w.run.options.load
	if load != "single_writer" {
		w.db = openDatabase(r.options)
	}
	r.opened.Done()
	<-r.started

	finished := false
	for i := int64(0); ; i++ {
		start := now()
		if load == "open_read" {
			// An open loop's latency begins when the request is due: waiting for the one before is part of it.
			start = w.due(i)
		}
		// The load stays on until every request that started inside the window has ended.
		if start >= r.end && !finished {
			finished = true
			r.finished.Add(1)
		}
		if finished && int(r.finished.Load()) == r.options.workers {
			break
		}
		if load == "open_read" {
			waitUntil(start)
		}
		err := w.send(i)
		took := now() - start
		busy := err != nil && r.writes(i) && errors.Is(err, sqlite3.BUSY)
		if err != nil && !busy {
			fail(load, err)
		}
		if start < r.begin || start >= r.end {
			continue
		}
		if busy {
			w.busyWaits.record(took)
		} else {
			w.latencies.record(took)
		}
	}
	if w.db != nil {
		w.db.close()
	}
}

// runConcurrent: workers at once for a fixed time, one goroutine and one connection each.
func runConcurrent(options *options) {
	db := openDatabase(options)
	db.seed()
	db.close()

	r := &run{options: options, started: make(chan struct{}), jobs: make(chan job, options.workers)}
	var latencies, busyWaits histogram
	var total counts
	var writer, ended sync.WaitGroup
	if options.load == "single_writer" {
		writer.Go(func() {
			defer failOnPanic()
			total.add(r.writeForAll())
		})
	}
	workers := make([]worker, options.workers)
	r.opened.Add(options.workers)
	for i := range workers {
		workers[i] = worker{run: r, index: int64(i), result: make(chan error, 1)}
		ended.Go(workers[i].work)
	}
	// All connections are open: the clock starts.
	r.opened.Wait()
	r.begin = now() + options.warmup
	r.end = r.begin + options.duration
	close(r.started)
	ended.Wait()
	close(r.jobs)
	writer.Wait()
	for i := range workers {
		latencies.add(&workers[i].latencies)
		busyWaits.add(&workers[i].busyWaits)
		if workers[i].db != nil {
			total.add(&workers[i].db.counts)
		}
	}
	printPoint(options, &latencies, &busyWaits)
	if options.statementCounts {
		total.print()
	}
}
