package summary

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestSourcesAreLetGo: what is kept of an entry is a copy, so the entry's own
// text, which may be a thousand times as long, can go.
func TestSourcesAreLetGo(t *testing.T) {
	const rounds, size = 120, 60 << 10
	b := New(60000)
	before := heap()
	for i := range rounds {
		pad := strings.Repeat("The reader goes on to the next part of it. ", size/43)
		id := fmt.Sprint(i)
		b.Add(Entry{N: i, Kind: Prompt, Text: "Never change table " + id + ". " + pad})
		b.Add(Entry{N: i, Kind: Thinking, Text: pad + "\n\nWe decided to use `cache" + id + "` instead of the map."})
		b.Add(call(i, id, "Bash", "command", "cat > part"+id+".txt <<'EOF'\n"+pad+"\nEOF"))
		b.Add(result(i, id, "cat: part"+id+": no such file\n"+pad, i%2 == 0))
		b.Add(Entry{N: i, Kind: Answer, Text: "Part " + id + " is done.\n\n" + pad})
	}
	if grown := heap() - before; grown > rounds*size/4 {
		t.Errorf("%d bytes are held after %d rounds of %d", grown, rounds, 5*size)
	}
	runtime.KeepAlive(b)
}

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
