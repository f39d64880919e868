package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"rocstress/childproc/wire"
	"rocstress/harness"
)

const (
	defaultWait = 10 * time.Minute
	waitHelp    = "how long to wait for a real device that another campaign is using; 0: not at all"
	// lockRetry is how often a device in use is asked for again: flock(2)
	// cannot wait for a bounded time.
	lockRetry = 100 * time.Millisecond
)

// lockDevice takes the device that spec names for one campaign: two at once
// would measure each other. A simulated device needs no lock. device is what
// the probe child found. The kernel releases the lock however this process
// ends.
//
// Whoever shares the device must share the directory of the lock: $TMPDIR, or
// /tmp. Its name is
//
//	stress-hip-N.lock    N is the device's number with HIP_VISIBLE_DEVICES,
//	                     CUDA_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES undone,
//	                     or the UUID they give, whatever ROCm release drives it
//	stress-abi-H-N.lock  of a test ABI; H is a digest of its file
func (a *app) lockDevice(ctx context.Context, spec string, device *wire.Device, wait time.Duration) (release func() error, err error) {
	if simulated(spec) || device == nil {
		return func() error { return nil }, nil
	}
	path := filepath.Join(lockDir(a.env), lockName(a.env, *device))
	l := flock.New(path, flock.SetFlag(lockFlags(path)), flock.SetPermissions(lockMode))
	locked, err := l.TryLock()
	if err == nil && !locked && wait > 0 {
		a.warn(fmt.Sprintf("%s is in use by %s; waiting up to %v (--wait)", spec, holder(path), wait))
		locked, err = waitForLock(ctx, l, wait)
	}
	switch {
	case ctx.Err() != nil && !locked:
		return nil, exitInterrupted("waiting for " + spec)
	case err != nil:
		return nil, &exitError{harness.ExitUnavailable, fmt.Errorf("lock %s: %w; make the file usable, or set TMPDIR for every campaign on this device", spec, err)}
	case !locked:
		return nil, &exitError{harness.ExitUnavailable, fmt.Errorf("%s is in use by %s, and stayed so for %v (lock %s); wait longer with --wait",
			spec, holder(path), wait, path)}
	}
	writeHolder(path, strconv.Itoa(os.Getpid())+"\n")
	return func() error {
		writeHolder(path, "")
		if err := l.Unlock(); err != nil {
			return fmt.Errorf("unlock %s: %w", spec, err)
		}
		return nil
	}, nil
}

func waitForLock(ctx context.Context, l *flock.Flock, wait time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	locked, err := l.TryLockContext(ctx, lockRetry)
	if ctx.Err() != nil {
		err = nil
	}
	return locked, err
}

// lockMode lets every user of the machine take the lock, and say so in it.
const lockMode = 0o666

// lockFlags returns how to open the file of a lock. Linux refuses O_CREAT for
// an existing file of somebody else in a directory like /tmp
// (fs.protected_regular), and such a file may be read-only.
func lockFlags(path string) int {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	switch {
	case err == nil:
		_ = f.Close() // nothing was written
		return os.O_RDWR | unix.O_NOFOLLOW
	case errors.Is(err, fs.ErrPermission):
		return os.O_RDONLY | unix.O_NOFOLLOW
	}
	return os.O_CREATE | os.O_RDWR | unix.O_NOFOLLOW
}

// writeHolder notes in the lock who holds it, for the message to others. That
// may fail, as in a file of another user: then nobody is named.
func writeHolder(path, text string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	_ = f.Chmod(lockMode) // past the umask
	_, _ = f.WriteString(text)
	_ = f.Close()
}

// holder names who holds a lock, as far as its file says.
func holder(path string) string {
	text, err := os.ReadFile(path)
	if pid, perr := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && perr == nil {
		return fmt.Sprintf("process %d", pid)
	}
	return "another process"
}

func lockDir(env []string) string {
	if dir := lookup(env, "TMPDIR"); dir != "" {
		return dir
	}
	return "/tmp"
}

func lockName(env []string, d wire.Device) string {
	if d.TestABI == "" {
		return "stress-hip-" + visible(env, d.Ordinal) + ".lock"
	}
	file := d.TestABI
	if len(d.Libraries) > 0 {
		file = d.Libraries[0].Path // of HIP: it is loaded first
	}
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	sum := sha256.Sum256([]byte(file))
	return fmt.Sprintf("stress-abi-%s-%s.lock", hex.EncodeToString(sum[:6]), visible(env, d.Ordinal))
}

// visible undoes what makes ordinal N of this process another device than
// ordinal N of the next. HIP_VISIBLE_DEVICES, or CUDA_VISIBLE_DEVICES in its
// place, chooses among what ROCR_VISIBLE_DEVICES left (ROCm documentation,
// "GPU isolation techniques"). An entry may be a UUID.
func visible(env []string, ordinal int) string {
	at := strconv.Itoa(ordinal)
	hip := lookup(env, "HIP_VISIBLE_DEVICES")
	if hip == "" {
		hip = lookup(env, "CUDA_VISIBLE_DEVICES")
	}
	for _, list := range []string{hip, lookup(env, "ROCR_VISIBLE_DEVICES")} {
		entries := strings.Split(list, ",")
		i, err := strconv.Atoi(at)
		if list != "" && err == nil && i >= 0 && i < len(entries) {
			at = strings.TrimSpace(entries[i])
		}
	}
	return strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, at)
}

// lookup returns a variable of env, the last where it is there twice.
func lookup(env []string, name string) (value string) {
	for _, kv := range env {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			value = v
		}
	}
	return value
}
