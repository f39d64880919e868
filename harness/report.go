package harness

import (
	"fmt"
	"strings"
	"time"

	"rocstress/childproc/wire"
)

// ReportSchema names the version of Report. Fields are never renamed.
const ReportSchema = "rocstress.report/v1"

// Report is everything that was found, as plain data: the one source of every
// report format. Durations are nanoseconds. Texts under Failures and
// Signatures come from children and are untrusted.
type Report struct {
	Schema    string           `json:"schema"`
	Tool      string           `json:"tool"`    // version of stress
	Command   []string         `json:"command"` // the invocation, argv
	Started   time.Time        `json:"started"` // UTC
	Dur       time.Duration    `json:"dur_ns"`
	Seed      uint64           `json:"seed"`
	Host      Host             `json:"host"`
	Device    wire.Device      `json:"device"`
	Subject   string           `json:"subject"` // what the result speaks of, one sentence
	Plan      Plan             `json:"plan"`
	Stopped   string           `json:"stopped,omitempty"` // why the campaign ended early; empty: it ran as planned
	OutDir    string           `json:"out_dir,omitempty"`
	Earlier   int              `json:"children_earlier,omitempty"` // children that were run before the campaign was resumed
	Warnings  []string         `json:"warnings,omitempty"`         // why the numbers may not mean what they seem to; untrusted text
	Scenarios []ScenarioReport `json:"scenarios"`
}

// Host is the machine a campaign ran on; never its name.
type Host struct {
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	Cores int    `json:"cores"`
	Go    string `json:"go"`
	// KernelDrivers are the versions of the GPU drivers in the kernel that
	// could be read, and of the kernel.
	KernelDrivers map[string]string `json:"kernel_drivers,omitempty"`
}

// ScenarioReport is one scenario's arms and what they came to.
type ScenarioReport struct {
	Name       string      `json:"name"`
	Arms       []ArmReport `json:"arms"`
	Verdict    Verdict     `json:"verdict"`
	Signatures []Signature `json:"signatures,omitempty"` // failures grouped, most frequent first
	Failures   []Failure   `json:"failures,omitempty"`   // bounded: the first of each signature and arm, then in order
	FailuresN  int         `json:"failures_total"`
}

// ArmReport is one arm's counts.
type ArmReport struct {
	Name           string          `json:"name"`
	Without        []string        `json:"without"`
	Group          string          `json:"group,omitempty"` // the name of just these protections, if they have one
	Runs           int             `json:"runs"`            // with at least one measured child
	RunsFailed     int             `json:"runs_failed"`
	Children       int             `json:"children"` // measured
	ChildrenFailed int             `json:"children_failed"`
	NotMeasured    int             `json:"not_measured"`
	Unmeasured     string          `json:"unmeasured,omitempty"` // why the first of them was not; untrusted text
	Planned        int             `json:"planned"`
	Outcomes       map[Outcome]int `json:"outcomes"`
	Interval       Interval        `json:"interval"`           // of the failure rate of children
	Clustered      Interval        `json:"interval_clustered"` // widened by the design effect of runs
	DesignEffect   float64         `json:"design_effect"`      // 1: children of a run are independent
	Bound          string          `json:"bound,omitempty"`    // the sentence for zero failures
	Contended      int             `json:"contended"`          // children with overlap of at least 2
	Skew           SkewSummary     `json:"skew"`
}

// Removal says what the arm runs without, in words.
func (a ArmReport) Removal() string {
	switch {
	case len(a.Without) == 0:
		return "with nothing removed"
	case a.Group != "":
		return fmt.Sprintf("without %s (%d protections)", a.Group, len(a.Without))
	}
	return "without " + strings.Join(a.Without, ", ")
}

// SkewSummary is the release skew of the barrier over all threads of an arm.
type SkewSummary struct {
	N     int   `json:"n"`
	P50NS int64 `json:"p50_ns"`
	P99NS int64 `json:"p99_ns"`
	MaxNS int64 `json:"max_ns"`
}

// Interval is a two-sided confidence interval of a rate.
type Interval struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"` // such as 0.95
}

// VerdictKind is what a comparison came to.
type VerdictKind string

// The verdicts. A single arm is clean, findings, or one of the inconclusive.
const (
	Regression   VerdictKind = "regression"
	Reproduction VerdictKind = "reproduction"
	Detection    VerdictKind = "detection"
	Suspicion    VerdictKind = "suspicion"
	Guard        VerdictKind = "guard"
	Inconclusive VerdictKind = "inconclusive"
	NoContention VerdictKind = "inconclusive (no contention)"
	Clean        VerdictKind = "clean"    // one arm, no child failed
	Findings     VerdictKind = "findings" // one arm, some child failed
)

// Verdict is a judgement with the words to paste.
type Verdict struct {
	Kind VerdictKind `json:"kind"`
	Text string      `json:"text"`
	P    *float64    `json:"p,omitempty"` // Fisher's exact test, two-sided; nil where there is none
}

// Signature is one group of failures.
type Signature struct {
	Signature string         `json:"signature"`
	Outcome   Outcome        `json:"outcome"`
	Count     map[string]int `json:"count"` // by arm
	Example   string         `json:"example"`
}

// Failure is one failed child.
type Failure struct {
	Arm       string  `json:"arm"`
	Run       int     `json:"run"`
	Child     int     `json:"child"`
	Outcome   Outcome `json:"outcome"`
	Signature string  `json:"signature"`
	Evidence  string  `json:"evidence"`
	Reproduce string  `json:"reproduce"` // the command that reruns this child
}
