package inuse_test

import (
	"os"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/clienttest"
)

func TestMain(m *testing.M) { os.Exit(clienttest.Main(m)) }
