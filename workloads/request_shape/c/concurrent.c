/* Workers at once for a fixed time, one thread and one connection each. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "modes.h"
#include "point.h"
#include "request.h"

/* single_writer: nobody waits behind the one that writes, so that it may wait as long as it takes. */
#define WRITER_PATIENCE_MS 60000
/* open_read: above the slack of a timer (50 us) and what waking up costs. */
#define AWAKE_BEFORE_DUE_NS 200000

/* single_writer: an update handed to the thread that owns the one writing connection. */
struct job {
  int64_t i, item;
  int rc;
  bool done;
  pthread_cond_t ready;
  struct job* next;
};

struct queue {
  pthread_mutex_t mutex;
  pthread_cond_t filled;
  struct job *first, **last;
  bool closed;
};

struct run {
  const struct options* options;
  pthread_barrier_t barrier;
  int64_t begin_ns, end_ns; /* the measured window; set between the barrier's two passes */
  atomic_int finished;      /* workers whose requests of the window have all ended */
  struct queue queue;
  struct counts writer_counts; /* of single_writer's connection */
};

struct worker {
  pthread_t thread;
  struct run* run;
  int index;
  struct database db;
  struct job job;
  struct histogram latencies, busy_waits;
};

static void* allocate(size_t count, size_t size) {
  void* memory = calloc(count, size);
  if (!memory) fail(&(struct database){0}, "workers", SQLITE_NOMEM);
  return memory;
}

static void start_thread(pthread_t* thread, void* (*body)(void*), void* argument) {
  int error = pthread_create(thread, NULL, body, argument);
  if (error) {
    fprintf(stderr, RUNNER ": threads: %s\n", strerror(error));
    exit(1);
  }
}

static int submit(struct queue* queue, struct job* job) {
  pthread_mutex_lock(&queue->mutex);
  job->done = false;
  job->next = NULL;
  *queue->last = job;
  queue->last = &job->next;
  pthread_cond_signal(&queue->filled);
  while (!job->done) pthread_cond_wait(&job->ready, &queue->mutex);
  pthread_mutex_unlock(&queue->mutex);
  return job->rc;
}

static void* write_for_all(void* argument) {
  struct run* run = argument;
  struct queue* queue = &run->queue;
  struct database db;
  uint64_t check = 0;
  struct options patient = *run->options;
  patient.busy_timeout_ms = WRITER_PATIENCE_MS;
  open_database(&db, &patient);
  pthread_mutex_lock(&queue->mutex);
  for (;;) {
    while (!queue->first && !queue->closed) pthread_cond_wait(&queue->filled, &queue->mutex);
    struct job* job = queue->first;
    if (!job) break;
    queue->first = job->next;
    if (!queue->first) queue->last = &queue->first;
    pthread_mutex_unlock(&queue->mutex);
    int rc = admin_item_update(&db, job->i, job->item, &check);
    pthread_mutex_lock(&queue->mutex);
    job->rc = rc;
    job->done = true;
    pthread_cond_signal(&job->ready);
  }
  pthread_mutex_unlock(&queue->mutex);
  close_database(&db);
  run->writer_counts = db.counts;
  return NULL;
}

static bool writes(enum load load, int64_t i) {
  return load == LOAD_WRITE || load == LOAD_SINGLE_WRITER || (load == LOAD_MIXED && i % 10 == 9);
}

static int send_request(struct worker* worker, int64_t i, uint64_t* check) {
  enum load load = worker->run->options->load;
  int64_t item = (37 * (int64_t)worker->index + i) % item_count(&worker->run->options->shape) + 1;
  if (load == LOAD_SINGLE_WRITER) {
    worker->job.i = i;
    worker->job.item = item;
    return submit(&worker->run->queue, &worker->job);
  }
  return writes(load, i) ? admin_item_update(&worker->db, i, item, check) : admin_item_edit(&worker->db, item, check);
}

/* open_read: request k of all workers is due k / rate seconds after the warm-up has begun; the workers take them in
 * turn. */
static int64_t due_ns(const struct worker* worker, int64_t i) {
  const struct options* options = worker->run->options;
  int64_t k = i * options->workers + worker->index, rate = options->rate;
  int64_t after = k / rate * INT64_C(1000000000) + k % rate * INT64_C(1000000000) / rate;
  return worker->run->begin_ns - options->warmup_ns + after;
}

/* Sleeps until shortly before, then asks the clock, so that the timer's slack is not measured. */
static void wait_until(int64_t ns) {
  for (int64_t left; (left = ns - now_ns()) > 0;) {
    left -= AWAKE_BEFORE_DUE_NS;
    if (left > 0)
      nanosleep(&(struct timespec){left / 1000000000, left % 1000000000}, NULL);
    else
      sched_yield();
  }
}

static void* work(void* argument) {
  struct worker* worker = argument;
  struct run* run = worker->run;
  const enum load load = run->options->load;
  bool own_connection = load != LOAD_SINGLE_WRITER, finished = false;
  uint64_t check = 0;
  if (own_connection) open_database(&worker->db, run->options);
  pthread_barrier_wait(&run->barrier);
  pthread_barrier_wait(&run->barrier);

  for (int64_t i = 0;; i++) {
    /* An open loop's latency begins when the request is due: waiting for the one before is part of it. */
    int64_t start = load == LOAD_OPEN_READ ? due_ns(worker, i) : now_ns();
    /* The load stays on until every request that started inside the window has ended. */
    if (start >= run->end_ns && !finished) {
      finished = true;
      atomic_fetch_add(&run->finished, 1);
    }
    if (finished && atomic_load(&run->finished) == run->options->workers) break;
    if (load == LOAD_OPEN_READ) wait_until(start);
    int rc = send_request(worker, i, &check);
    int64_t took = now_ns() - start;
    bool busy = (rc & 0xff) == SQLITE_BUSY && writes(load, i);
    if (rc != SQLITE_OK && !busy) fail(&worker->db, load_names[load], rc);
    if (start < run->begin_ns || start >= run->end_ns) continue;
    histogram_record(busy ? &worker->busy_waits : &worker->latencies, took);
  }
  if (own_connection) close_database(&worker->db);
  return NULL;
}

void run_concurrent(const struct options* options) {
  struct database db;
  open_database(&db, options);
  seed_database(&db);
  close_database(&db);

  struct run run = {.options = options,
                    .queue = {.mutex = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER}};
  run.queue.last = &run.queue.first;
  pthread_barrier_init(&run.barrier, NULL, (unsigned)options->workers + 1);
  struct worker* workers = allocate((size_t)options->workers, sizeof *workers);
  pthread_t writer;
  if (options->load == LOAD_SINGLE_WRITER) start_thread(&writer, write_for_all, &run);
  for (int i = 0; i < options->workers; i++) {
    workers[i].run = &run;
    workers[i].index = i;
    pthread_cond_init(&workers[i].job.ready, NULL);
    start_thread(&workers[i].thread, work, &workers[i]);
  }
  /* All connections are open: the clock starts. */
  pthread_barrier_wait(&run.barrier);
  run.begin_ns = now_ns() + options->warmup_ns;
  run.end_ns = run.begin_ns + options->duration_ns;
  pthread_barrier_wait(&run.barrier);

  struct histogram *latencies = allocate(1, sizeof *latencies), *busy_waits = allocate(1, sizeof *busy_waits);
  struct counts counts = {0};
  for (int i = 0; i < options->workers; i++) {
    pthread_join(workers[i].thread, NULL);
    histogram_add(latencies, &workers[i].latencies);
    histogram_add(busy_waits, &workers[i].busy_waits);
    add_counts(&counts, &workers[i].db.counts);
  }
  if (options->load == LOAD_SINGLE_WRITER) {
    pthread_mutex_lock(&run.queue.mutex);
    run.queue.closed = true;
    pthread_cond_signal(&run.queue.filled);
    pthread_mutex_unlock(&run.queue.mutex);
    pthread_join(writer, NULL);
    add_counts(&counts, &run.writer_counts);
  }
  print_point(options, latencies, busy_waits);
  if (options->statement_counts) print_counts(&counts, stderr);
  free(workers);
  free(latencies);
  free(busy_waits);
}
