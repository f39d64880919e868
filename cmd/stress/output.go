package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"rocstress/harness"
	"rocstress/reports"
)

// Values of --format.
const (
	formatText     = "text"
	formatJSON     = "json"
	formatMarkdown = "md"
)

// render returns the report as the flags ask for it.
func (v viewSettings) render(r harness.Report) (string, error) {
	var b bytes.Buffer
	var err error
	switch v.format {
	case formatJSON:
		err = reports.WriteJSON(&b, r)
	case formatMarkdown:
		err = reports.WriteMarkdown(&b, r)
	default:
		opts := reports.TextOptions{}
		switch {
		case v.quiet:
			opts.Detail = reports.Brief
		case v.verbose:
			opts.Detail = reports.Full
		}
		err = reports.WriteText(&b, r, opts)
	}
	return b.String(), err
}

// defaultOut names a results directory by time and process.
func defaultOut(now time.Time, pid int) string {
	return filepath.Join("stress-results", fmt.Sprintf("%s-%d", now.UTC().Format("20060102T150405Z"), pid))
}

// checkOut refuses a results directory that could not be made, before
// anything is made.
func checkOut(dir string) error {
	refuse := func(why string) error {
		return usagef("--out %q: %s; accepted: a new or empty directory that can be written", dir, why)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return refuse(fmt.Sprintf("is not empty (holds %s)", entries[0].Name()))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return refuse(cause(err))
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		st, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at):
			continue // it will be made
		case err != nil:
			return refuse(cause(err))
		case !st.IsDir():
			return refuse(at + " is no directory")
		}
		if err := unix.Access(at, unix.W_OK|unix.X_OK); err != nil {
			return refuse(fmt.Sprintf("%s: %v", at, err))
		}
		return nil
	}
}

// cause takes the reason out of an error that repeats the path.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// pending is a file that appears whole at commit, or not at all.
type pending struct{ file *renameio.PendingFile }

// createPending makes sure that path can be written, before anything runs. An
// empty path is no file.
func createPending(flag, path string) (pending, error) {
	if path == "" {
		return pending{}, nil
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return pending{}, usagef("%s %q: is a directory; accepted: a file in a directory that can be written", flag, path)
	}
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(0o644))
	if err != nil {
		return pending{}, usagef("%s %q: %s; accepted: a file in a directory that can be written", flag, path, cause(err))
	}
	return pending{f}, nil
}

func (p pending) commit(content []byte) error {
	if _, err := p.file.Write(content); err != nil {
		return fmt.Errorf("write %s: %w", p.file.Name(), err)
	}
	if err := p.file.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("write %s: %w", p.file.Name(), err)
	}
	return nil
}

// discard removes what was not committed. After commit it does nothing.
func (p pending) discard() error {
	if p.file == nil {
		return nil
	}
	return p.file.Cleanup()
}
