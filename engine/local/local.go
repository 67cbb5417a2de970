// Package local works through a run's items in this process.
//
// Results come in the order of the items, whatever the number of workers. A
// panic ends its item, not the process. A timeout and a cancelled context reach
// an item through its context; work that does not look at it is waited for, since
// work that was abandoned could still change the world.
//
// The package knows no steps and records nothing.
package local

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// What ended an item's context, or kept it from being started.
var (
	ErrTimeout = errors.New("the item's time is over")
	ErrStopped = errors.New("not started, since an earlier item failed")
)

// PanicError is a panic in an item. It does not hold the panic's value, which
// may hold anything.
type PanicError struct{ Stack []byte }

func (e *PanicError) Error() string { return "internal error: the program panicked" }

// Pool is how items are worked through.
type Pool struct {
	// Workers is how many items are worked on at once; 0 for one a CPU, and of small
	// items, which mostly wait for the disk, up to [Small] times as many.
	Workers int
	Small   func(i int) bool // nil for none
	Timeout time.Duration    // of one item; 0 for none
	Stop    bool             // start no item after one failed
}

// Small is how many small items are worked on in the place of a large one.
const Small = 4

// Run works through items 0 to n-1 and gives their errors by index. An item that
// was not started has [ErrStopped] or the context's cause.
func (p Pool) Run(ctx context.Context, n int, work func(ctx context.Context, i int) error) []error {
	size := p.Size()
	r := &run{Pool: p, room: semaphore.NewWeighted(int64(size)), work: work, errs: make([]error, n)}
	var workers sync.WaitGroup
	for range min(size, n) {
		workers.Go(func() {
			for i := r.take(); i < n; i = r.take() {
				r.weighed(ctx, i)
			}
		})
	}
	workers.Wait()
	return r.errs
}

// Size is how many items are worked on at once at most.
func (p Pool) Size() int {
	if p.Workers > 0 {
		return p.Workers
	}
	return Small * runtime.GOMAXPROCS(0)
}

// weight is how many of the places an item takes.
func (p Pool) weight(i int) int64 {
	if p.Workers > 0 || p.Small != nil && p.Small(i) {
		return 1
	}
	return Small
}

type run struct {
	Pool
	room   *semaphore.Weighted
	work   func(ctx context.Context, i int) error
	errs   []error // each index has one writer
	taken  atomic.Int64
	failed atomic.Bool
}

func (r *run) take() int { return int(r.taken.Add(1)) - 1 }

// weighed works on an item when there is room for it. An ended context is told by
// the item.
func (r *run) weighed(ctx context.Context, i int) {
	weight := r.weight(i)
	if r.room.Acquire(ctx, weight) == nil {
		defer r.room.Release(weight)
	}
	r.item(ctx, i)
}

func (r *run) item(ctx context.Context, i int) {
	switch {
	case ctx.Err() != nil:
		r.errs[i] = context.Cause(ctx)
		return
	case r.Stop && r.failed.Load():
		r.errs[i] = ErrStopped
		return
	}
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.Timeout, ErrTimeout)
		defer cancel()
	}
	r.errs[i] = Protect(func() error { return r.work(ctx, i) })
	if r.errs[i] != nil {
		r.failed.Store(true)
	}
}

// Protect turns a panic into a *[PanicError].
func Protect(work func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = &PanicError{Stack: debug.Stack()}
		}
	}()
	return work()
}
