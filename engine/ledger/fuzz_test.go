package ledger_test

import "testing"

// FuzzOpen opens any bytes. Whatever is found is what was asked for, and the
// ledger goes on behind it.
func FuzzOpen(f *testing.F) {
	m := mem()
	add(f, m, record("/a", "r1", "/o=11"), record("/b", "r1"), record("/a", "r2", "/o=12"))
	good := content(f, m)
	f.Add(good)
	f.Add(good[:len(good)-9])
	f.Fuzz(func(t *testing.T, data []byte) {
		m := write(t, data)
		l := open(t, m)
		for _, source := range []string{"/a", "/b"} {
			if r, err := l.Item("k", "j", source); err != nil || r != nil && r.Source != source {
				t.Fatalf("asked for %s: %+v, %v", source, r, err)
			}
		}
		l.Owned("/o")
		was := run(t, l, "/b")
		more := record("/a", "r3", "/o=13")
		add(t, m, more)
		has(t, m, more)
		if is := run(t, open(t, m), "/b"); is != was {
			t.Fatalf("/b was of %q and is of %q", was, is)
		}
		must(t, open(t, m).Tidy())
	})
}
