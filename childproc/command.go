package childproc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"rocstress/childproc/wire"
)

// selfExe names this executable even after its file was replaced or removed,
// so that all children of a campaign are of one build.
const selfExe = "/proc/self/exe"

// command is a Spec made ready for exec.
type command struct {
	path  string
	argv  []string
	env   []string
	dir   string
	entry bool // one of our own
}

// pipes returns how many pipes the child writes to.
func (c command) pipes() int {
	if c.entry {
		return 3
	}
	return 2
}

func (s Spec) command() (command, error) {
	c := command{path: s.Path, dir: s.Dir, entry: s.Entry != ""}
	fail := func(step string, err error) (command, error) {
		return command{}, &StartError{c.path, step, err}
	}
	if s.Deadline < 0 || s.Grace < 0 || s.KeepBytes < 0 {
		return fail("check spec", fmt.Errorf("negative deadline %v, grace %v or keep bytes %d", s.Deadline, s.Grace, s.KeepBytes))
	}
	name := s.Path
	switch {
	case s.Path == "":
		self, err := os.Executable()
		if err != nil {
			return fail("find this executable", err)
		}
		c.path, name = selfExe, self
	case !strings.Contains(s.Path, "/"):
		found, err := exec.LookPath(s.Path)
		if err != nil {
			return fail("look up in PATH", lookupCause(err))
		}
		c.path = found
	}
	c.argv = append([]string{name}, s.Args...)
	c.env = withoutContract(s.Env, c.entry)
	if c.entry {
		doc, err := s.Orders.Encode()
		if err != nil {
			return fail("encode orders", err)
		}
		c.env = slices.DeleteFunc(c.env, func(kv string) bool { return strings.HasPrefix(kv, "GOTRACEBACK=") })
		c.env = append(c.env, "GOTRACEBACK=all", wire.EnvChild+"="+s.Entry, wire.EnvSpec+"="+doc)
	}
	return c, nil
}

// withoutContract returns a copy of env, nil meaning this process's, without
// the variables of the child contract. An entry keeps wire.EnvABI, which a
// test ABI library reads at the start of the process; a foreign program gets
// no ROCSTRESS_* variable at all.
func withoutContract(env []string, entry bool) []string {
	if env == nil {
		env = os.Environ()
	}
	out := make([]string, 0, len(env)+3)
	for _, kv := range env {
		abi := entry && strings.HasPrefix(kv, wire.EnvABI+"=")
		if abi || !strings.HasPrefix(kv, envPrefix) {
			out = append(out, kv)
		}
	}
	return out
}

// lookupCause takes the cause out of an *exec.Error, which repeats the name.
func lookupCause(err error) error {
	var e *exec.Error
	if !errors.As(err, &e) {
		return err
	}
	if errors.Is(e.Err, exec.ErrNotFound) {
		return fmt.Errorf("not found; give a path with a slash for a program elsewhere: %w", fs.ErrNotExist)
	}
	return e.Err
}

// startError gives the failure of a start its step.
func (c command) startError(err error) error {
	var se *StartError
	if errors.As(err, &se) {
		return se
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &StartError{c.path, "launch", err}
	}
	// A missing directory and a missing program give the same errno.
	if c.dir != "" {
		if _, derr := os.Stat(c.dir); derr != nil {
			return &StartError{c.path, "chdir " + c.dir, derr}
		}
	}
	return &StartError{c.path, "exec", err}
}
