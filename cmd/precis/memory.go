package main

import (
	"runtime/debug"
	"sync/atomic"

	"github.com/precis-dev/precis/engine/event"
)

// The heap's growth in percent before the collector runs. The index of a large
// session holds no pointers and costs the collector nothing, so memory is the
// better thing to save. A small one is gone before that pays: a batch of them
// would spend half its time collecting.
const (
	collectAt      = 50
	collectSmallAt = 400
)

// large is the size of a session from which on memory is saved, in bytes.
const large = 4 << 20

// collector is an [event.Sink] that has the collector run as the sessions of a run
// want it.
type collector struct{ saving atomic.Bool }

// Emit looks at sizes only.
func (c *collector) Emit(e event.Event) {
	switch e := e.(type) {
	case event.RunStarted:
		debug.SetGCPercent(collectSmallAt)
	case event.ItemStarted:
		if e.Bytes >= large && c.saving.CompareAndSwap(false, true) {
			debug.SetGCPercent(collectAt)
		}
	case event.Run:
		debug.SetGCPercent(collectAt)
	}
}
