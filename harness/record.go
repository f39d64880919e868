package harness

import "time"

// RecordVersion is the version of a line of results.jsonl.
const RecordVersion = 1

// Record is what one child came to: one line of results.jsonl, keyed by
// scenario, arm, run and child. Fields are never renamed.
type Record struct {
	V         int     `json:"v"`
	Scenario  string  `json:"scenario"`
	Arm       string  `json:"arm"`
	Run       int     `json:"run"`   // from 1
	Child     int     `json:"child"` // from 1, in its run
	Seed      uint64  `json:"seed"`
	Outcome   Outcome `json:"outcome"`
	Flags     Flags   `json:"flags,omitzero"`
	Signature string  `json:"signature,omitempty"` // class plus the stable part of the evidence; groups failures
	Exit      ExitRec `json:"exit"`
	SkewNS    []int64 `json:"skew_ns,omitempty"`
	Overlap   int     `json:"overlap,omitempty"`
	Evidence  string  `json:"evidence,omitempty"` // what decided the outcome, bounded, untrusted text
	// Device is the label of what the child ran on, such as "sim gfx1151".
	Device string `json:"device,omitempty"`
	// Libraries is the Fingerprint of what the child mapped.
	Libraries string `json:"libraries,omitempty"`
}

// Flags stand beside an outcome, never instead of it.
type Flags struct {
	Phase         string `json:"phase,omitempty"`       // the last phase entered: init, run or teardown
	FirstError    string `json:"first_error,omitempty"` // bounded, untrusted text
	Provoked      string `json:"provoked,omitempty"`    // the outcome a scenario provoked on purpose
	HarnessKilled bool   `json:"harness_killed,omitempty"`
	LeakedPipes   bool   `json:"leaked_pipes,omitempty"` // a grandchild kept an output open
	RaceReport    bool   `json:"race_report,omitempty"`  // a race detector reported a data race
	// OtherLibraries: not those that the first child of the campaign mapped.
	OtherLibraries bool `json:"other_libraries,omitempty"`
}

// ExitRec is the mechanical end of a child.
type ExitRec struct {
	Code   int           `json:"code"`             // -1 where a signal ended it
	Signal string        `json:"signal,omitempty"` // such as "SIGSEGV"
	Killed bool          `json:"killed,omitempty"` // by us
	Dur    time.Duration `json:"dur_ns"`
}

// Key identifies a child of a campaign.
type Key struct {
	Scenario string `json:"scenario"`
	Arm      string `json:"arm"`
	Run      int    `json:"run"`   // from 1
	Child    int    `json:"child"` // from 1, in its run
}

// Key returns what identifies the record's child.
func (r Record) Key() Key { return Key{r.Scenario, r.Arm, r.Run, r.Child} }
