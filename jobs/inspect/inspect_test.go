package inspect_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/jobs/inspect"
)

func TestBytesByTypeAndCause(t *testing.T) {
	r := look(t, "24-progress-bloat", inspect.Options{})
	if want := (inspect.Type{Type: "progress", Records: 6, Bytes: 11700}); r.Types[0] != want {
		t.Errorf("largest type %+v, want %+v", r.Types[0], want)
	}
	if r.Bytes != 19565 || r.Causes.NormalizedCopy == 0 || r.Causes.NormalizedCopy > r.Causes.ProgressPayload {
		t.Errorf("%d bytes, causes %+v", r.Bytes, r.Causes)
	}
	sum := int64(0)
	for _, typ := range r.Types {
		sum += typ.Bytes
	}
	if sum != r.Bytes {
		t.Errorf("the types add up to %d of %d bytes", sum, r.Bytes)
	}
}

func TestDoubleOutput(t *testing.T) {
	r := look(t, "25-long-line-double-output", inspect.Options{})
	if want := (&inspect.DoubleOutput{Bytes: 46799, Line: 12}); !cmp.Equal(r.Double, want) {
		t.Errorf("%+v, want %+v", r.Double, want)
	}
	if r.Lines.Longest != 96781 {
		t.Errorf("longest line %d", r.Lines.Longest)
	}
}

func TestSyntheticErrorRowsCostNothing(t *testing.T) {
	r := look(t, "38-synthetic-error-rows", inspect.Options{})
	if r.Errors != 5 {
		t.Errorf("%d error rows, want 5", r.Errors)
	}
}

func TestUsageIsThatOfTheLastFragment(t *testing.T) {
	r := look(t, "43-stream-fragments-usage", inspect.Options{})
	i := slices.IndexFunc(r.Usage.Largest, func(m inspect.Message) bool { return m.ID == "msg_0110b6992bebe1544ea0d4da" })
	if i < 0 || r.Usage.Largest[i].OutputTokens != 159 {
		t.Errorf("usage %+v", r.Usage)
	}
}

func TestSecretsAreCountedAndNotTold(t *testing.T) {
	r := look(t, "41-secret-in-tool-output", inspect.Options{})
	if len(r.Secrets) != 1 || r.Secrets[0].Count != 2 || !slices.Equal(r.Secrets[0].Lines, []int{12}) {
		t.Errorf("secrets %+v", r.Secrets)
	}
}

func TestChain(t *testing.T) {
	for _, c := range []struct {
		name      string
		status    string
		length    int
		recovered int
	}{
		{"01-healthy-baseline", "valid", 12, 0},
		{"04-parallel-siblings-off-chain", "valid", 16, 2}, // every record with a uuid,
		{"05-phantom-parent", "dangling", 0, 0},
		{"06-parent-cycle", "loop", 0, 0},
		{"29-no-last-prompt", "absent", 0, 0},
	} {
		r := look(t, c.name, inspect.Options{UUIDs: true})
		if r.Chain.Status != c.status || r.Chain.Length != c.length || r.Chain.Recovered != c.recovered || len(r.Chain.UUIDs) != c.length {
			t.Errorf("%s: %+v", c.name, r.Chain)
		}
	}
	if r := look(t, "05-phantom-parent", inspect.Options{}); r.Chain.Reached != 3 {
		t.Errorf("%d records reached, want 3", r.Chain.Reached)
	}
}

func TestBranches(t *testing.T) {
	r := look(t, "27-rewound-branch", inspect.Options{})
	if len(r.Branches) != 1 || r.Branches[0].Records != 3 || r.Branches[0].Line != 12 {
		t.Errorf("branches %+v, want one of lines 10 to 12", r.Branches)
	}
	r = look(t, "36-sidechain-inline", inspect.Options{})
	if len(r.Branches) != 1 || r.Branches[0].Kind != "sidechain" || r.Branches[0].Records != 2 {
		t.Errorf("branches %+v, want one helper chain of 2", r.Branches)
	}
}

// The six sets hold every record, whatever the state of the file.
func TestPartitionIsTotal(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "*", "*.jsonl"))
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		r, err := inspect.Inspect(context.Background(), fsys.OS(), f, inspect.Options{}, func(int64, int64) {})
		if err != nil {
			t.Fatal(err)
		}
		p := r.Partition
		if n := p.Summary + p.Raw + p.Side + p.Control + p.ExcludedBranch + p.ExcludedUnattributed; n != r.Records {
			t.Errorf("%s: the sets hold %d of %d records", f, n, r.Records)
		}
	}
}

func look(t *testing.T, name string, o inspect.Options) *inspect.Report {
	t.Helper()
	r, err := inspect.Inspect(context.Background(), fsys.OS(), filepath.Join("..", "..", "testdata", "cases", name+".jsonl"), o, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
