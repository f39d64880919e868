// Package wire is the contract between the driver and a child as types: the
// one document of orders that a child receives, and the lines of events that
// it sends back. It is a leaf: it imports nothing of rocstress.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// SpecVersion is the version of Spec that this build writes and accepts.
const SpecVersion = 1

// Names of environment variables. ROCSTRESS_* variables never reach foreign
// programs.
const (
	EnvChild = "ROCSTRESS_CHILD" // the entry to run; its presence makes a process a child
	EnvSpec  = "ROCSTRESS_SPEC"  // the Spec as one JSON document
	// EnvABI is no part of the contract: settings of a HIP test ABI library,
	// key=value,..., which must be in the environment when the child starts.
	EnvABI = "ROCSTRESS_ABI"
)

// EventsFD is the file descriptor on which a child writes its events: runtimes
// print on stdout and stderr, so neither can carry a protocol.
const EventsFD = 3

// LifelineFD is the read end of a pipe whose only write end the driver holds.
// It reports end of file when the driver is gone, however it went.
const LifelineFD = 4

// Spec is the orders of one child.
type Spec struct {
	V        int           `json:"v"`
	Scenario string        `json:"scenario"`
	Device   string        `json:"device"` // what rocm/open.Open takes, such as "sim:arch=gfx1151" or "hip:0"
	Settings Settings      `json:"settings"`
	Removed  []string      `json:"removed"` // protection ids, expanded and sorted
	Seed     uint64        `json:"seed"`    // the child's own, mixed from seed, scenario, run and child
	Run      int           `json:"run"`     // counted from 1
	Child    int           `json:"child"`   // counted from 1, in its run
	Arm      string        `json:"arm"`
	Deadline time.Duration `json:"deadline_ns"` // 0: none. The driver enforces it; the child may budget by it
}

// Settings are the knobs of a scenario. A zero field means the scenario's
// default; Validate tells what else is refused.
type Settings struct {
	Threads int    `json:"threads,omitempty"`
	Rounds  int    `json:"rounds,omitempty"` // operations a thread
	Shape   Shape  `json:"shape,omitzero"`
	Inputs  string `json:"inputs,omitempty"` // "mixed" or "seed"
	Load    string `json:"load,omitempty"`   // "auto", "off" or a size in bytes with suffix, such as "256MiB"
}

// Shape is a GEMM: [M,K] x [K,N] = [M,N].
type Shape struct {
	M int `json:"m"`
	K int `json:"k"`
	N int `json:"n"`
}

// String returns the form that ParseShape reads, MxKxN.
func (s Shape) String() string { return fmt.Sprintf("%dx%dx%d", s.M, s.K, s.N) }

// maxSpecBytes bounds the document: the environment of a process is limited,
// and nothing legitimate comes near.
const maxSpecBytes = 64 << 10

// Encode returns the document for EnvSpec.
func (s Spec) Encode() (string, error) {
	s.V = SpecVersion
	b, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("encode child spec: %w", err)
	}
	if len(b) > maxSpecBytes {
		return "", fmt.Errorf("encode child spec: %d bytes, at most %d are allowed", len(b), maxSpecBytes)
	}
	return string(b), nil
}

// DecodeSpec reads a document strictly: unknown fields, another version and
// trailing text are refused, so that a driver and a child of different builds
// cannot misunderstand each other silently.
func DecodeSpec(doc string) (Spec, error) {
	var s Spec
	if len(doc) > maxSpecBytes {
		return s, fmt.Errorf("%s: %d bytes, at most %d are allowed", EnvSpec, len(doc), maxSpecBytes)
	}
	d := json.NewDecoder(bytes.NewReader([]byte(doc)))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("%s: %w", EnvSpec, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return s, fmt.Errorf("%s: text after the document", EnvSpec)
	}
	if s.V != SpecVersion {
		return s, fmt.Errorf("%s: version %d, this build speaks version %d", EnvSpec, s.V, SpecVersion)
	}
	return s, nil
}

// Without reports whether the protection id is removed.
func (s Spec) Without(id string) bool { return slices.Contains(s.Removed, id) }
