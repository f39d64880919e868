package results

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"rocstress/harness"
)

// Dir is a results directory to read. Safe for concurrent use; a writer may be
// adding to it.
type Dir struct {
	path     string
	manifest Manifest
}

// Open reads the manifest of a results directory. The error matches
// fs.ErrNotExist where there is none.
func Open(path string) (*Dir, error) {
	m, err := readManifest(path)
	if err != nil {
		return nil, err
	}
	return &Dir{path: path, manifest: m}, nil
}

// Path returns the directory.
func (d *Dir) Path() string { return d.path }

// Manifest returns the manifest as it was when the directory was opened.
func (d *Dir) Manifest() Manifest { return d.manifest }

// EvidenceDir returns where the evidence of a child lies, if it failed.
func (d *Dir) EvidenceDir(k harness.Key) string {
	return filepath.Join(d.path, childDir(d.manifest.Plan, k))
}

// Records calls f for every record, in the order in which children finished;
// of a child that ran more than once, as one that was interrupted and run
// again by a resume, the last record only. A torn last line is left out. An
// error of f ends it and is returned.
func (d *Dir) Records(f func(r harness.Record) error) error {
	file, err := os.Open(filepath.Join(d.path, recordsName))
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	err = readRecords(file, f)
	return errors.Join(err, file.Close())
}

// readRecords reads twice: where the last record of each child stands, then
// the records.
func readRecords(file io.ReadSeeker, f func(r harness.Record) error) error {
	last := map[harness.Key]int64{}
	names := map[string]string{} // one copy of each scenario and arm
	one := func(s string) string {
		if _, ok := names[s]; !ok {
			names[s] = s
		}
		return names[s]
	}
	err := eachRecord(file, func(r harness.Record, offset int64) error {
		k := r.Key()
		k.Scenario, k.Arm = one(k.Scenario), one(k.Arm)
		last[k] = offset
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	return eachRecord(file, func(r harness.Record, offset int64) error {
		if at, known := last[r.Key()]; !known || at != offset {
			return nil // superseded, or appended since the first reading
		}
		return f(r)
	})
}

// Find returns the record of one child; ok is false where it has none.
func (d *Dir) Find(k harness.Key) (r harness.Record, ok bool, err error) {
	err = d.Records(func(rec harness.Record) error {
		if rec.Key() == k {
			r, ok = rec, true
		}
		return nil
	})
	return r, ok, err
}

// Done returns the children that need not run again: those that came to an
// outcome. A child that was interrupted or could not be started is not among
// them.
func (d *Dir) Done() (map[harness.Key]bool, error) {
	done := map[harness.Key]bool{}
	err := d.Records(func(r harness.Record) error {
		if r.Outcome != harness.NotMeasured {
			done[r.Key()] = true
		}
		return nil
	})
	return done, err
}
