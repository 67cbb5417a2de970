package author

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// grace is how long a program's output may stay open after its end.
const grace = time.Second

// Run runs a program without a terminal. When the context ends, or an output takes
// no more, the program is killed with all that it started.
func Run(ctx context.Context, p Process) (Exit, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cmd := exec.CommandContext(ctx, p.Args[0], p.Args[1:]...)
	if named(p.Args[0]) { // from the folder it runs in, which it is in when it starts
		cmd.Path, cmd.Err = p.Args[0], nil
	}
	cmd.Dir, cmd.Env = p.Dir, p.Env
	cmd.Stdin = strings.NewReader(p.Stdin)
	cmd.Stdout, cmd.Stderr = &sink{p.Stdout, stop}, &sink{p.Stderr, stop}
	cmd.WaitDelay = grace
	alone(cmd)
	return exited(ctx, cmd, cmd.Run())
}

// named tells a program that is a relative path from one that PATH has.
func named(program string) bool {
	return filepath.Base(program) != program && !filepath.IsAbs(program)
}

// exited tells an end from a failure to run.
func exited(ctx context.Context, cmd *exec.Cmd, err error) (Exit, error) {
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Exit{}, context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay):
		killGroup(cmd)
		return Exit{Held: true}, nil
	case errors.As(err, &ended):
		return Exit{Code: ended.ExitCode(), Killed: !ended.Exited()}, nil
	case errors.Is(err, exec.ErrNotFound):
		return Exit{}, fs.ErrNotExist
	}
	return Exit{}, err
}

// sink passes output on, and ends the program when it is not wanted.
type sink struct {
	take func([]byte) error
	stop context.CancelCauseFunc
}

func (s *sink) Write(p []byte) (int, error) {
	if err := s.take(p); err != nil {
		s.stop(err)
		return 0, err
	}
	return len(p), nil
}
