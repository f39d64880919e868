package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2"

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

// outDir is a results directory that can be written, and which of its parents
// were made for it.
type outDir struct {
	path string
	made []string // the deepest last
}

// reserveOut makes the directory, so that it is known to be possible before
// anything runs. The error names --out.
func reserveOut(dir string) (o outDir, err error) {
	o.path = dir
	defer func() {
		if err != nil {
			o.release()
			err = usagef("--out %q: %s; accepted: a new or empty directory that can be written", dir, cause(err))
		}
	}()
	if err := o.make(filepath.Clean(dir)); err != nil {
		return o, err
	}
	entries, err := os.ReadDir(dir)
	switch {
	case err != nil:
		return o, err
	case len(entries) > 0:
		return o, fmt.Errorf("is not empty (holds %s)", entries[0].Name())
	}
	probe, err := os.CreateTemp(dir, ".stress-")
	if err != nil {
		return o, err
	}
	return o, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// make makes dir and those of its parents that do not exist.
func (o *outDir) make(dir string) error {
	st, err := os.Stat(dir)
	switch {
	case err == nil && st.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s is not a directory", dir)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := o.make(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	o.made = append(o.made, dir)
	return nil
}

// release takes back what was made, as far as it is empty.
func (o *outDir) release() {
	for _, dir := range slices.Backward(o.made) {
		if os.Remove(dir) != nil {
			return // somebody else uses it by now
		}
	}
	o.made = nil
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
