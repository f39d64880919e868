package childproc

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"rocstress/childproc/wire"
)

// Exit codes of a child that no entry chose. They lie apart from the codes of
// entries (0 and 1), of a Go panic (2) and of shells (125 and up).
const (
	// ExitOrders: the child contract was broken, and no entry ran. The reason
	// and the accepted entries are on stderr.
	ExitOrders = 97
	// ExitOrphaned: the driver went away while the entry ran.
	ExitOrphaned = 98
)

// envPrefix starts the names of all variables of the child contract.
const envPrefix = "ROCSTRESS_"

// Entry is a body that a child runs. Its result is the exit code of the
// process: 0 or 1. A panic in it ends the process the usual way.
type Entry = func(orders wire.Spec, events *wire.Writer) int

// Main makes a process that a Launcher started run its entry, and never
// returns from it; in any other process it returns at once. It must be called
// first in main, and first in TestMain, before flags are parsed.
//
// It removes the contract's variables from the environment and keeps the
// contract's descriptors from programs that the entry starts (with CGO_ENABLED=0
// a C library's own getenv still sees the variables). It ends the process with
// ExitOrphaned when the driver is gone, and with ExitOrders, after a message
// on stderr, when the entry or its orders are not what this build accepts.
func Main(entries map[string]Entry) {
	name, child := os.LookupEnv(wire.EnvChild)
	if !child {
		return
	}
	entry, orders, err := takeOrders(name, entries)
	if err != nil {
		accepted := slices.Sorted(maps.Keys(entries))
		fmt.Fprintf(os.Stderr, "rocstress: cannot run as child %s=%q: %v\naccepted entries: %s\n",
			wire.EnvChild, name, err, strings.Join(accepted, ", "))
		os.Exit(ExitOrders)
	}
	nameProcess()
	go watchLifeline(os.NewFile(wire.LifelineFD, "lifeline"))
	os.Exit(entry(orders, wire.NewWriter(os.NewFile(wire.EventsFD, "events"))))
}

func takeOrders(name string, entries map[string]Entry) (Entry, wire.Spec, error) {
	doc, given := os.LookupEnv(wire.EnvSpec)
	for _, kv := range os.Environ() {
		// With cgo, unsetting reaches the C library that reads EnvABI.
		if k, _, _ := strings.Cut(kv, "="); strings.HasPrefix(k, envPrefix) && k != wire.EnvABI {
			if err := os.Unsetenv(k); err != nil {
				return nil, wire.Spec{}, fmt.Errorf("unset %s: %w", k, err)
			}
		}
	}
	entry := entries[name]
	if entry == nil {
		return nil, wire.Spec{}, fmt.Errorf("unknown entry")
	}
	if !given {
		return nil, wire.Spec{}, fmt.Errorf("%s is not set", wire.EnvSpec)
	}
	orders, err := wire.DecodeSpec(doc)
	if err != nil {
		return nil, wire.Spec{}, err
	}
	for _, fd := range []int{wire.EventsFD, wire.LifelineFD} {
		if err := adoptPipe(fd); err != nil {
			return nil, wire.Spec{}, err
		}
	}
	return entry, orders, nil
}

// adoptPipe checks that a descriptor of the contract was inherited, and keeps
// it from the programs that this process starts: one of them holding the
// events pipe would look like a child that never ends.
func adoptPipe(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("descriptor %d was not inherited: fstat: %s (%d); only a rocstress driver starts children",
			fd, unix.ErrnoName(errno(err)), int(errno(err)))
	}
	if st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return fmt.Errorf("descriptor %d is no pipe; only a rocstress driver starts children", fd)
	}
	unix.CloseOnExec(fd)
	return nil
}

// nameProcess gives the process its name back in ps and in evidence: executed
// through /proc/self/exe it is called "exe". Cosmetic, so failure is ignored.
func nameProcess() {
	_ = os.WriteFile("/proc/self/comm", []byte(filepath.Base(os.Args[0])), 0)
}

// watchLifeline ends the process when the driver's end of the pipe closes. The
// parent-death signal is usually faster, but a changed uid clears it.
func watchLifeline(r *os.File) {
	b := make([]byte, 1)
	for {
		if _, err := r.Read(b); err != nil {
			os.Exit(ExitOrphaned)
		}
	}
}
