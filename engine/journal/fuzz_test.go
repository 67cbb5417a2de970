package journal_test

import (
	"errors"
	"testing"

	"github.com/precis-dev/precis/engine/journal"
)

// FuzzRead reads any bytes. What is read is a journal that goes on; what is not is
// an error with its place, and untouched.
func FuzzRead(f *testing.F) {
	m := mem()
	tell(f, m, 4, story()...)
	good := content(f, m)
	f.Add(good)
	f.Add(good[:len(good)/2])
	m = mem()
	tell(f, m, 3, patience()...)
	f.Add(content(f, m))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := write(t, data)
		var entries []journal.Entry
		for e, err := range journal.Read(m, file) {
			if err != nil {
				misread(t, data, err)
				return
			}
			entries = append(entries, e)
		}
		state := scan(t, m)
		j := open(t, m)
		more := next(&state)
		if i := state.Items; state.Finished != nil && len(i) > 0 {
			more = &journal.ItemRestored{Item: i[0].ItemOpened.Item}
		} else if state.Finished != nil {
			return
		}
		must(t, j.Append(more))
		must(t, j.Commit())
		must(t, j.Close())
		if n := len(read(t, m)); n != len(entries)+1 {
			t.Fatalf("%d entries, %d with one more", len(entries), n)
		}
	})
}

func misread(t *testing.T, data []byte, err error) {
	var e *journal.Error
	if !errors.As(err, &e) || e.Line < 1 || e.Byte < 0 || e.Byte >= int64(len(data)) {
		t.Fatal(err)
	}
	refusal(t, write(t, data))
}
