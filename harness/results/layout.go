// Package results keeps what a campaign finds in a directory, and reads it
// back. It judges nothing and deletes nothing.
//
//	manifest.json                    what ran: plan, seed, versions, host, device
//	results.jsonl                    one line a child, appended as children finish
//	runs/NNN/child-NN/               of a failed child: stdout, stderr, events.jsonl,
//	                                 env, evidence.json
//
// A directory of a child names its arm unless there is one arm only
// (runs/003/child-07-removed), and stands below its scenario if the plan has
// several (runs/first-gemm/003/child-07-removed).
package results

import (
	"fmt"
	"path/filepath"
	"strings"

	"rocstress/harness"
)

const (
	manifestName = "manifest.json"
	recordsName  = "results.jsonl"
	runsName     = "runs"
)

// childDir returns where the evidence of a child lies, below the directory.
func childDir(p harness.Plan, k harness.Key) string {
	dir := runsName
	if len(p.Scenarios) > 1 {
		dir = filepath.Join(dir, fileName(k.Scenario))
	}
	child := fmt.Sprintf("child-%02d", k.Child)
	if k.Arm != harness.ArmRun {
		child += "-" + fileName(k.Arm)
	}
	return filepath.Join(dir, fmt.Sprintf("%03d", k.Run), child)
}

// fileName makes a name safe as one element of a path.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, name)
	if safe == "" || safe[0] == '.' {
		return "_" + safe
	}
	return safe
}
