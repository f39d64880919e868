package childproc_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"rocstress/childproc"
	"rocstress/childproc/wire"
)

// Entries that are drivers themselves.

func mustLaunch() *childproc.Launcher {
	l, err := childproc.NewLauncher()
	if err != nil {
		panic(err)
	}
	return l
}

// openFiles tells the open descriptors of this process and what they are.
// Pipes and pidfds of different children differ in it.
func openFiles() map[string]bool {
	dir := fmt.Sprintf("/proc/%d/fd", os.Getpid())
	names, err := os.ReadDir(dir)
	if err != nil {
		panic(err)
	}
	open := map[string]bool{}
	for _, n := range names {
		// The descriptor that listed them is closed by now.
		if target, err := os.Readlink(dir + "/" + n.Name()); err == nil && target != dir {
			open[n.Name()+" "+target] = true
		}
	}
	return open
}

// openedSince returns what is open now and was not before.
func openedSince(before map[string]bool) []string {
	now := openFiles()
	for f := range before {
		delete(now, f)
	}
	return slices.Collect(maps.Keys(now))
}

// fewFiles runs out of descriptors at every step of a start in turn.
func fewFiles(_ wire.Spec, ev *wire.Writer) int {
	l := mustLaunch()
	run := func() error {
		_, err := l.Run(context.Background(), childproc.Spec{Entry: "noop"})
		return err
	}
	if err := run(); err != nil { // whatever the runtime opens once is open now
		panic(err)
	}
	before := openFiles()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		panic(err)
	}
	refused, odd := 0, ""
	for limit := uint64(len(before)); ; limit++ {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: old.Max}); err != nil {
			panic(err)
		}
		err := run()
		if err == nil {
			break
		}
		refused++
		var se *childproc.StartError
		if !errors.As(err, &se) || !errors.Is(err, unix.EMFILE) {
			odd = err.Error()
		}
		say(ev, "refusal", err.Error(), 0)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		panic(err)
	}
	say(ev, "refused", odd, refused)
	say(ev, "leaked", strings.Join(openedSince(before), ", "), 0)
	if err := l.Close(); err != nil {
		panic(err)
	}
	return 0
}

// coreLimit tells the limit of a child while its own is not zero.
func coreLimit(_ wire.Spec, ev *wire.Writer) int {
	want := unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &want); err != nil {
		say(ev, "skip", err.Error(), 0)
		return 0
	}
	l := mustLaunch()
	e, err := l.Run(context.Background(), childproc.Spec{Path: "sh", Args: []string{"-c", "ulimit -c"}})
	if err != nil {
		panic(err)
	}
	var got unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &got); err != nil {
		panic(err)
	}
	say(ev, "child", strings.TrimSpace(e.Stdout.String()), 0)
	say(ev, "driver", "", int(got.Cur))
	return 0
}

// replaced removes its own executable before it starts it again.
func replaced(_ wire.Spec, ev *wire.Writer) int {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	if err := os.Remove(self); err != nil {
		panic(err)
	}
	e, err := mustLaunch().Run(context.Background(), childproc.Spec{Entry: "exit3"})
	if err != nil {
		panic(err)
	}
	say(ev, "code", "", e.Code)
	return 0
}

// driver starts an entry and a foreign program that never end, tells their
// pids, and waits to be killed.
func driver(_ wire.Spec, ev *wire.Writer) int {
	say(ev, "self", "", os.Getpid())
	l := mustLaunch()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = l.Run(context.Background(), childproc.Spec{
			Entry:   "sleep",
			OnEvent: func(e wire.Event) { say(ev, "own", "", e.Check.Count) },
		})
	})
	wg.Go(func() {
		_, _ = l.Run(context.Background(), childproc.Spec{
			Path: "sh", Args: []string{"-c", "echo $$; exec sleep 60"},
			Observe: func(_ childproc.Stream, b []byte) { say(ev, "foreign", strings.TrimSpace(string(b)), 0) },
		})
	})
	wg.Wait()
	time.Sleep(time.Hour)
	return 0
}
