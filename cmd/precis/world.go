package main

import (
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"github.com/precis-dev/precis/jobs"
)

// world is what jobs use of this process's world. What a server sends unasked,
// net/http would write to the standard logger.
func world() jobs.World {
	log.SetOutput(io.Discard)
	return jobs.NewWorld(os.LookupEnv, http.DefaultTransport, time.Now, rand.Float64)
}
