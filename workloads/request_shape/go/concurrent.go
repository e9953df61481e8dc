package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"
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
	begin, end time.Duration  // the measured window, on the clock of `now`
	finished   atomic.Int32   // workers whose requests of the window have all ended
	jobs       chan job
}

type outcome struct {
	latencies, busyWaits histogram
}

var epoch = time.Now()

// now is the monotonic clock alone; time.Now would read two.
func now() time.Duration {
	return time.Since(epoch)
}

func (r *run) writeForAll() {
	defer failOnPanic()
	db := openDatabase(r.options)
	for job := range r.jobs {
		_, err := adminItemUpdate(db, job.i, job.item)
		job.result <- err
	}
	db.close()
}

// sender is where a worker's requests go: its own connection, or the queue of the one writer. Its close ends the connection.
func (r *run) sender() (send func(writes bool, i, item int64) error, closeIt func()) {
	if r.options.load == "single_writer" {
		result := make(chan error, 1)
		return func(_ bool, i, item int64) error {
			r.jobs <- job{i, item, result}
			return <-result
		}, func() {}
	}
	db := openDatabase(r.options)
	return func(writes bool, i, item int64) (err error) {
		if writes {
			_, err = adminItemUpdate(db, i, item)
		} else {
			_, err = adminItemEdit(db, item)
		}
		return err
	}, db.close
}

func (r *run) work(index int64, outcome *outcome) {
	defer failOnPanic()
	send, closeIt := r.sender()
	r.opened.Done()
	<-r.started

	finished := false
	for i := int64(0); ; i++ {
		start := now()
		// The load stays on until every request that started inside the window has ended.
		if start >= r.end && !finished {
			finished = true
			r.finished.Add(1)
		}
		if finished && int(r.finished.Load()) == r.options.workers {
			break
		}
		writes := r.options.load == "write" || r.options.load == "single_writer" || r.options.load == "mixed" && i%10 == 9
		err := send(writes, i, (37*index+i)%100+1)
		took := now() - start
		busy := writes && errors.Is(err, sqlite3.BUSY)
		if err != nil && !busy {
			fail(r.options.load, err)
		}
		if start < r.begin || start >= r.end {
			continue
		}
		if busy {
			outcome.busyWaits.record(took)
		} else {
			outcome.latencies.record(took)
		}
	}
	closeIt()
}

// writeHistogramFile writes into the folder BENCHCTL_OUT, where there is one.
func writeHistogramFile(load, suffix string, histogram *histogram) {
	folder := os.Getenv("BENCHCTL_OUT")
	if folder == "" || histogram.total == 0 {
		return
	}
	path := fmt.Sprintf("%s/%s_app_request_%s%s.hist.csv", folder, runner, load, suffix)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		err = errors.Join(histogram.write(file), file.Close())
	}
	if err != nil {
		fail(path, err)
	}
}

func printPoint(options *options, latencies *histogram, errors int64) {
	us := func(value time.Duration) float64 { return float64(value) / 1e3 }
	seconds := options.duration.Seconds()
	printLine("case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us,errors")
	printLine(fmt.Sprintf("%s%s,%d,%.3f,%d,%.3f,%.3f,%.3f,%.3f,%.3f,%d", casePrefix, options.load, options.workers, seconds,
		latencies.total, float64(latencies.total)/seconds, us(latencies.percentile(50)), us(latencies.percentile(95)),
		us(latencies.percentile(99)), us(latencies.max), errors))
}

// runConcurrent: workers at once for a fixed time, one goroutine and one connection each.
func runConcurrent(options *options) {
	db := openDatabase(options)
	db.seed()
	db.close()

	r := &run{options: options, started: make(chan struct{}), jobs: make(chan job, options.workers)}
	outcomes := make([]outcome, options.workers)
	var workers, writer sync.WaitGroup
	if options.load == "single_writer" {
		writer.Go(r.writeForAll)
	}
	r.opened.Add(options.workers)
	for index := range outcomes {
		workers.Go(func() { r.work(int64(index), &outcomes[index]) })
	}
	// All connections are open: the clock starts.
	r.opened.Wait()
	r.begin = now() + options.warmup
	r.end = r.begin + options.duration
	close(r.started)
	workers.Wait()
	close(r.jobs)
	writer.Wait()

	var total outcome
	for i := range outcomes {
		total.latencies.add(&outcomes[i].latencies)
		total.busyWaits.add(&outcomes[i].busyWaits)
	}
	writeHistogramFile(options.load, "", &total.latencies)
	writeHistogramFile(options.load, ".errors", &total.busyWaits)
	printPoint(options, &total.latencies, total.busyWaits.total)
}
