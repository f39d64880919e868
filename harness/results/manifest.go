package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"rocstress/childproc/wire"
	"rocstress/harness"
)

// ManifestSchema names the version of Manifest. Fields are never renamed.
const ManifestSchema = "rocstress.manifest/v1"

// Manifest says everything about a campaign but what came of it. It never
// names the machine.
type Manifest struct {
	Schema  string       `json:"schema"`
	Tool    string       `json:"tool"`            // version of stress
	Build   string       `json:"build,omitempty"` // identifies the binary, so that a resume notices another one
	Command []string     `json:"command"`         // argv
	Created time.Time    `json:"created"`         // UTC
	Host    harness.Host `json:"host"`
	Device  wire.Device  `json:"device"` // with the libraries that were mapped; of the first child that got so far
	Plan    harness.Plan `json:"plan"`   // every setting, and the seed
	// Environment holds the variables of harness.RelevantEnv.
	Environment map[string]string `json:"environment"`
	// Resumed are the invocations that continued the campaign.
	Resumed []Invocation `json:"resumed,omitempty"`
}

// Invocation is one start of stress.
type Invocation struct {
	Command []string  `json:"command"` // argv
	At      time.Time `json:"at"`      // UTC
}

// write replaces the manifest in one step: a reader sees the old one or the
// new one.
func (m Manifest) write(dir string) error {
	m.Schema = ManifestSchema
	doc, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", manifestName, err)
	}
	if err := renameio.WriteFile(filepath.Join(dir, manifestName), append(doc, '\n'), 0o644, renameio.WithTempDir(dir)); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(dir, manifestName), err)
	}
	return nil
}

func readManifest(dir string) (Manifest, error) {
	path := filepath.Join(dir, manifestName)
	doc, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, fmt.Errorf("%s is no results directory: it has no %s: %w", dir, manifestName, fs.ErrNotExist)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %w", err)
	}
	var m Manifest
	if err := json.Unmarshal(doc, &m); err != nil {
		return Manifest{}, fmt.Errorf("read %s: %w", path, err)
	}
	if m.Schema != ManifestSchema {
		return Manifest{}, fmt.Errorf("read %s: schema %.60q, this build reads %q", path, m.Schema, ManifestSchema)
	}
	return m, nil
}
