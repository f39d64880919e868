package childproc_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"rocstress/childproc"
	"rocstress/childproc/wire"
)

// entries are the pathologies, each as small as it can be.
func entries() map[string]childproc.Entry {
	return map[string]childproc.Entry{
		"noop":       func(wire.Spec, *wire.Writer) int { return 0 },
		"exit3":      func(wire.Spec, *wire.Writer) int { return 3 },
		"raise":      raise,
		"panic":      func(wire.Spec, *wire.Writer) int { panic("on purpose") },
		"nil":        derefNil,
		"spin":       spin,
		"sleep":      sleep,
		"stubborn":   stubborn,
		"stray":      stray,
		"grandchild": grandchild,
		"flood":      flood,
		"garbage":    garbage,
		"close-fd3":  func(wire.Spec, *wire.Writer) int { _ = unix.Close(wire.EventsFD); return 0 },
		"torn":       torn,
		"done":       sendDone,
		"count":      count,
		"inherits":   inherits,
		"few-files":  fewFiles,
		"core-limit": coreLimit,
		"replaced":   replaced,
		"driver":     driver,
	}
}

// say sends text and a number to the test.
func say(ev *wire.Writer, name, detail string, n int) {
	check := &wire.Check{Name: name, OK: true, Detail: detail, Count: n}
	if err := ev.Send(wire.Event{Kind: wire.KindCheck, Check: check}); err != nil {
		fmt.Fprintln(os.Stderr, "send:", err)
	}
}

// dieBy ends the process by the signal's default action, which Go's own
// handlers would otherwise stand in front of.
func dieBy(sig syscall.Signal) {
	var act [4]uint64 // a struct sigaction of the kernel, all default
	_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&act)), 0, 8, 0, 0)
	if e != 0 && sig != unix.SIGKILL { // which has no other action
		panic(e)
	}
	_ = unix.Kill(os.Getpid(), sig)
	select {}
}

func raise(o wire.Spec, _ *wire.Writer) int {
	dieBy(syscall.Signal(o.Run))
	return 0
}

func derefNil(wire.Spec, *wire.Writer) int {
	var p *int
	return *p
}

func spin(_ wire.Spec, ev *wire.Writer) int {
	say(ev, "ready", "", os.Getpid())
	for n := uint64(1); n != 0; n++ {
	}
	return 0
}

func sleep(_ wire.Spec, ev *wire.Writer) int {
	say(ev, "ready", "", os.Getpid())
	time.Sleep(time.Hour)
	return 0
}

func stubborn(o wire.Spec, ev *wire.Writer) int {
	signal.Ignore(unix.SIGTERM, unix.SIGQUIT)
	return sleep(o, ev)
}

// stray is stubborn in the process group of its driver.
func stray(o wire.Spec, ev *wire.Writer) int {
	group, err := unix.Getpgid(os.Getppid())
	if err != nil {
		panic(err)
	}
	if err := unix.Setpgid(0, group); err != nil {
		panic(err)
	}
	return stubborn(o, ev)
}

// grandchild leaves a program behind that holds its outputs, in a session of
// its own if the scenario says so.
func grandchild(o wire.Spec, ev *wire.Writer) int {
	cmd := exec.Command("sleep", "60")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: o.Scenario == "setsid"}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	say(ev, "pid", "", cmd.Process.Pid)
	fmt.Println("last words")
	return 0
}

// floodBytes is what flood writes to each stream.
const floodBytes = 1 << 30

func flood(wire.Spec, *wire.Writer) int {
	var wg sync.WaitGroup
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		wg.Go(func() {
			chunk := bytes.Repeat([]byte("0123456789abcde\n"), 1<<12)
			copy(chunk, "begin")
			for left := floodBytes; left > 0; left -= len(chunk) {
				if left == len(chunk) {
					copy(chunk[len(chunk)-4:], "end\n")
				}
				if _, err := f.Write(chunk); err != nil {
					panic(err)
				}
				copy(chunk, "01234")
			}
		})
	}
	wg.Wait()
	return 0
}

func writeRaw(b []byte) {
	for len(b) > 0 {
		n, err := unix.Write(wire.EventsFD, b)
		if err != nil {
			panic(err)
		}
		b = b[n:]
	}
}

func garbage(_ wire.Spec, ev *wire.Writer) int {
	writeRaw([]byte("\x00\xff not an event\n{\"ev\":\"unheard-of\"}\n\n"))
	say(ev, "first", "", 1)
	writeRaw(append(bytes.Repeat([]byte{'x'}, 10<<20), '\n'))
	say(ev, "second", "", 2)
	return 0
}

func torn(wire.Spec, *wire.Writer) int {
	writeRaw([]byte(`{"ev":"done"}` + "\n" + `{"ev":"che`))
	dieBy(unix.SIGSEGV)
	return 0
}

// sendDone sends done o.Child times, and dies by signal o.Run if there is one.
func sendDone(o wire.Spec, ev *wire.Writer) int {
	for range o.Child {
		if err := ev.Send(wire.Event{Kind: wire.KindDone}); err != nil {
			panic(err)
		}
	}
	if o.Run != 0 {
		dieBy(syscall.Signal(o.Run))
	}
	return 0
}

func count(o wire.Spec, ev *wire.Writer) int {
	for i := range o.Child {
		say(ev, "n", "", i)
	}
	return 0
}

// inherits tells what a program started by an entry can see of the contract.
func inherits(_ wire.Spec, ev *wire.Writer) int {
	env, err := exec.Command("env").Output()
	if err != nil {
		panic(err)
	}
	fds, err := exec.Command("ls", "/proc/self/fd").Output()
	if err != nil {
		panic(err)
	}
	stdin, err := os.Readlink("/proc/self/fd/0")
	if err != nil {
		panic(err)
	}
	comm, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		panic(err)
	}
	say(ev, "env", string(env), 0)
	say(ev, "fds", string(fds), 0)
	say(ev, "stdin", stdin, 0)
	say(ev, "comm", strings.TrimSpace(string(comm)), 0)
	say(ev, "pgid", "", unix.Getpgrp())
	return 0
}
