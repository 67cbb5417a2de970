package clienttest_test

import (
	"flag"
	"os"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/clienttest"
)

var (
	version = flag.String("client", "", "the client to test with, instead of all pinned ones; TestVectors runs only with it")
	update  = flag.Bool("update", false, "store what the client sends of the vectors")
	sample  = flag.Int("sample", 1, "take only every Nth vector")
)

func TestMain(m *testing.M) { os.Exit(clienttest.Main(m)) }

// eachClient runs test with the clients that the flags name.
func eachClient(t *testing.T, test func(*testing.T, *clienttest.Client)) {
	versions := clienttest.Versions
	if *version != "" {
		versions = []string{*version}
	}
	for _, v := range versions {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			test(t, clienttest.Find(t, v))
		})
	}
}
