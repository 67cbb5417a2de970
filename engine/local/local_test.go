package local_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precis-dev/precis/engine/local"
)

func TestResultsComeInItemOrder(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 7, 100} {
		errs := local.Pool{Workers: workers}.Run(context.Background(), 20, func(_ context.Context, i int) error {
			return fmt.Errorf("item %d", i)
		})
		for i, err := range errs {
			if err.Error() != fmt.Sprintf("item %d", i) {
				t.Errorf("%d workers: result %d is %v", workers, i, err)
			}
		}
		if len(errs) != 20 {
			t.Errorf("%d workers: %d results", workers, len(errs))
		}
	}
}

func TestWorkersWorkAtTheSameTimeAndNoMore(t *testing.T) {
	const workers = 3
	var meet sync.WaitGroup
	meet.Add(workers)
	var now, most atomic.Int64
	local.Pool{Workers: workers}.Run(context.Background(), 2*workers, func(_ context.Context, i int) error {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		if i < workers {
			meet.Done()
			meet.Wait() // hangs unless all workers are at work
		}
		now.Add(-1)
		return nil
	})
	if most.Load() > workers {
		t.Errorf("%d items at the same time", most.Load())
	}
}

func TestOnFailure(t *testing.T) {
	bad := errors.New("bad")
	for stop, want := range map[bool][]error{
		false: {nil, bad, nil, nil},
		true:  {nil, bad, local.ErrStopped, local.ErrStopped},
	} {
		errs := local.Pool{Workers: 1, Stop: stop}.Run(context.Background(), 4, func(_ context.Context, i int) error {
			return want[i]
		})
		if !slices.Equal(errs, want) {
			t.Errorf("stop %v: %v", stop, errs)
		}
	}
}

func TestCancellationKeepsItemsFromStarting(t *testing.T) {
	cause := errors.New("ctrl-c")
	ctx, cancel := context.WithCancelCause(context.Background())
	errs := local.Pool{Workers: 1}.Run(ctx, 3, func(ctx context.Context, i int) error {
		if i == 1 {
			cancel(cause)
			<-ctx.Done()
		}
		return nil
	})
	if !slices.Equal(errs, []error{nil, nil, cause}) {
		t.Errorf("%v", errs)
	}
}

func TestTimeoutIsOfOneItem(t *testing.T) {
	errs := local.Pool{Workers: 1, Timeout: time.Millisecond}.Run(context.Background(), 2, func(ctx context.Context, i int) error {
		if i == 1 {
			return nil
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if !slices.Equal(errs, []error{local.ErrTimeout, nil}) {
		t.Errorf("%v", errs)
	}
}

func TestAPanicEndsItsItemOnly(t *testing.T) {
	errs := local.Pool{Workers: 1}.Run(context.Background(), 2, func(_ context.Context, i int) error {
		if i == 0 {
			panic("a secret from a transcript")
		}
		return nil
	})
	var p *local.PanicError
	if !errors.As(errs[0], &p) || errs[1] != nil {
		t.Fatalf("%v", errs)
	}
	if strings.Contains(p.Error()+string(p.Stack), "secret") {
		t.Error("the panic's value got out")
	}
	if !strings.Contains(string(p.Stack), "local_test.go") {
		t.Error("the stack does not show where")
	}
}
