package engine

import (
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/go-hclog"
	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/applog"
)

// Owner is the process that runs a job.
type Owner = applog.Owner

// Env is the world as the engine sees it.
type Env struct {
	FS    afero.Fs
	State string // the state directory
	Now   func() time.Time
	NewID func() string // run ids: unique, sorted by time
	Log   hclog.Logger
	Host  Owner
	// Command is a command line for a person, with what makes it work where this
	// process did; nil for the bare one.
	Command func(verb string, args ...string) string
}

// command is a command line for a person.
func (e Env) command(verb string, args ...string) string {
	if e.Command != nil {
		return e.Command(verb, args...)
	}
	return strings.Join(append([]string{"precis", verb}, args...), " ")
}

// OSEnv is the world of this process: the one place where clock, ids and host
// come from.
func OSEnv(state string, log hclog.Logger) Env {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return Env{
		FS:    fsys.OS(),
		State: state,
		Now:   time.Now,
		NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
		Log:   log,
		Host:  Owner{Host: host, Boot: bootID(), PID: os.Getpid(), Start: time.Now().UTC()},
	}
}

// bootID tells two boots of one machine apart (random(4)); other systems have none.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
