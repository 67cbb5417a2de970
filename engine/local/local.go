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
	Workers int           // 0 for runtime.GOMAXPROCS
	Timeout time.Duration // of one item; 0 for none
	Stop    bool          // start no item after one failed
}

// Run works through items 0 to n-1 and gives their errors by index. An item that
// was not started has [ErrStopped] or the context's cause.
func (p Pool) Run(ctx context.Context, n int, work func(ctx context.Context, i int) error) []error {
	r := &run{Pool: p, work: work, errs: make([]error, n)}
	var workers sync.WaitGroup
	for range min(p.Size(), n) {
		workers.Go(func() {
			for i := r.take(); i < n; i = r.take() {
				r.item(ctx, i)
			}
		})
	}
	workers.Wait()
	return r.errs
}

// Size is how many items are worked on at once, if there are so many.
func (p Pool) Size() int {
	if p.Workers > 0 {
		return p.Workers
	}
	return runtime.GOMAXPROCS(0)
}

type run struct {
	Pool
	work   func(ctx context.Context, i int) error
	errs   []error // each index has one writer
	taken  atomic.Int64
	failed atomic.Bool
}

func (r *run) take() int { return int(r.taken.Add(1)) - 1 }

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
