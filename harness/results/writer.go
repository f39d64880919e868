package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"rocstress/harness"
)

// ErrInUse says that another process is writing to the directory.
var ErrInUse = errors.New("another process is writing to it")

// Writer adds to a results directory; it is a harness.Store. Append and
// Evidence must not overlap; Sync may run beside them.
type Writer struct {
	dir      string
	manifest Manifest
	records  *os.File // locked against other processes
	failed   error    // of the first Append that could not be written whole
}

var _ harness.Store = (*Writer)(nil)

// Create makes the directory, with parents, and writes the manifest. A
// directory that holds anything is refused: results are never overwritten.
func Create(dir string, m Manifest) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create results directory: %w; name another with --out", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("create results directory: %w; name another with --out", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("results directory %s is not empty (%s and %d more); name another with --out, or continue it with --resume",
			dir, entries[0].Name(), len(entries)-1)
	}
	w, err := openWriter(dir, m, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	if err := m.write(dir); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, syncDir(dir)
}

// Reopen returns a Writer that adds to an existing directory. A torn last
// line, left by a process that died while writing it, is cut off: it was never
// a result.
func Reopen(dir string) (*Writer, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	w, err := openWriter(dir, m, 0)
	if err != nil {
		return nil, err
	}
	if err := w.mend(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func openWriter(dir string, m Manifest, flags int) (*Writer, error) {
	f, err := os.OpenFile(filepath.Join(dir, recordsName), os.O_RDWR|os.O_APPEND|flags, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		cause := fmt.Errorf("lock: %w", err)
		if errors.Is(err, unix.EWOULDBLOCK) {
			cause = ErrInUse
		}
		return nil, errors.Join(fmt.Errorf("results directory %s: %w", dir, cause), f.Close())
	}
	return &Writer{dir: dir, manifest: m, records: f}, nil
}

// mend leaves the file of records ending in a whole line.
func (w *Writer) mend() error {
	end := int64(0)
	torn := false
	err := eachLine(w.records, func(l line) error {
		torn = l.torn
		switch _, err := decodeRecord(l.text); {
		case err != nil && torn:
			return nil // cut off
		case err != nil:
			return fmt.Errorf("%s line %d: %w", recordsName, l.number, err)
		}
		end = l.end
		return nil
	})
	if err != nil {
		return err
	}
	if err := w.records.Truncate(end); err != nil {
		return fmt.Errorf("cut off a torn line of %s: %w", recordsName, err)
	}
	if torn && end > 0 && !w.endsInNewline(end) {
		if _, err := w.records.Write([]byte("\n")); err != nil {
			return fmt.Errorf("end the last line of %s: %w", recordsName, err)
		}
	}
	return nil
}

func (w *Writer) endsInNewline(end int64) bool {
	var last [1]byte
	_, err := w.records.ReadAt(last[:], end-1)
	return err == nil && last[0] == '\n'
}

// Dir returns the directory.
func (w *Writer) Dir() string { return w.dir }

// SetManifest replaces the manifest, as when the device is known better. The
// layout of evidence goes by the new plan.
func (w *Writer) SetManifest(m Manifest) error {
	if err := m.write(w.dir); err != nil {
		return err
	}
	w.manifest = m
	return nil
}

// Append writes one record as one line by one write(2). After the first line
// that could not be written whole, as on a full disk, it writes no other: a
// torn line is tolerated at the end of the file only.
func (w *Writer) Append(r harness.Record) error {
	if w.failed != nil {
		return w.failed
	}
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode the record of %v: %w", r.Key(), err)
	}
	if len(text) >= maxLine {
		return fmt.Errorf("record of %v: %d bytes, at most %d can be read back", r.Key(), len(text), maxLine-1)
	}
	if _, err := w.records.Write(append(text, '\n')); err != nil {
		w.failed = fmt.Errorf("append to results: %w", err)
		return w.failed
	}
	return nil
}

// Evidence writes the files of a child.
func (w *Writer) Evidence(k harness.Key, files []harness.File) error {
	dir := filepath.Join(w.dir, childDir(w.manifest.Plan, k))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("keep evidence: %w", err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, fileName(f.Name)), f.Data, 0o644); err != nil {
			return fmt.Errorf("keep evidence: %w", err)
		}
	}
	return nil
}

// Sync makes the records survive the death of the machine.
func (w *Writer) Sync() error {
	if err := w.records.Sync(); err != nil {
		return fmt.Errorf("sync results: %w", err)
	}
	return nil
}

// Close gives the directory free for other writers.
func (w *Writer) Close() error {
	if err := w.records.Close(); err != nil {
		return fmt.Errorf("close results: %w", err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync results directory: %w", err)
	}
	if err := d.Sync(); err != nil {
		return errors.Join(fmt.Errorf("sync results directory: %w", err), d.Close())
	}
	return d.Close()
}
