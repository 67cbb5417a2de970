package schemas

import (
	"io"
	"testing"
)

// The library would read these from disk or net.
func TestLoadRefuses(t *testing.T) {
	for _, url := range []string{"file:///etc/hostname", "http://127.0.0.1/x.json", "https://json-schema.org/x", "job.schema.json",
		"embed:///nothing.schema.json", "embed:///../go.mod", "embed:////etc/hostname"} {
		if r, err := load(url); err == nil {
			r.Close()
			t.Errorf("loaded %s", url)
		}
	}
	r, err := load(base + "job" + suffix)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadAll(r); err != nil {
		t.Error(err)
	}
}
