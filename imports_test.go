// Package rocstress holds the tests of the repository's own rules: which
// package may import which, and what the source may not say.
package rocstress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const module = "rocstress"

// importRule says what a package may import of rocstress, directly, and why
// the rest is banned.
type importRule struct {
	may    []string
	reason string
}

// importRules is the import table for non-test files. A package that is not
// listed fails the test: a new package is a decision.
var importRules = map[string]importRule{
	"cmd/stress": {
		[]string{"scenarios", "reports", "harness", "harness/results", "harness/sched", "childproc", "childproc/wire", "rocm", "rocm/open"},
		"the composition root wires everything and reaches drivers through rocm/open alone, so that no driver is special",
	},
	"childproc":      {[]string{"childproc/wire"}, "supervision must not know what it supervises"},
	"childproc/wire": {nil, "the contract is a leaf, so that both sides can import it"},
	"harness": {
		[]string{"childproc", "childproc/wire", "harness/sched", "harness/stats"},
		"the driver judges numbers and exits; it must not know devices, scenarios or report formats",
	},
	"harness/stats":    {nil, "statistics are pure"},
	"harness/results":  {[]string{"harness", "childproc", "childproc/wire"}, "a results directory stores what the harness found and judges nothing"},
	"harness/sched":    {nil, "the seam is below everything that runs on it"},
	"harness/oracle":   {nil, "the oracle must not share code with what it checks"},
	"harness/team":     {[]string{"harness/sched", "childproc/wire"}, "threads of a child know neither device nor driver process"},
	"rocm":             {[]string{"harness/sched"}, "the protocol under test knows the seam and the Driver interface only"},
	"rocm/sim":         {[]string{"rocm", "harness/sched"}, "the simulated device may not know who uses it"},
	"rocm/hip":         {[]string{"rocm", "harness/sched"}, "the real device may not know who uses it"},
	"rocm/open":        {[]string{"rocm", "rocm/sim", "rocm/hip", "harness/sched"}, "the only place that chooses between sim and hip"},
	"rocm/conformance": {[]string{"rocm", "harness/sched"}, "one suite for every driver knows none of them"},
	"scenarios": {
		[]string{"harness/team", "harness/oracle", "harness/sched", "rocm", "childproc/wire"},
		"a scenario gets its driver opened and its child started by others",
	},
	"reports": {[]string{"harness", "childproc/wire"}, "reports render what was judged: they run nothing and open nothing"},
}

// testOnly lists modules that only _test.go files may reach, with the reason.
var testOnly = map[string]string{
	"github.com/onsi/ginkgo": "registers flags and state that a child must not carry",
	"github.com/onsi/gomega": "assertions belong to tests",
	"pgregory.net/rapid":     "its init registers flags in any binary that imports it",
	"go.uber.org/goleak":     "leak checks belong to tests",
	"testing":                "only rocm/conformance offers a suite to others",
}

type listedPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func listPackages(t *testing.T, args ...string) []listedPackage {
	t.Helper()
	g := NewWithT(t)
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	g.Expect(err).NotTo(HaveOccurred(), stderr.String())
	var pkgs []listedPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return pkgs
		}
		g.Expect(err).NotTo(HaveOccurred())
		pkgs = append(pkgs, p)
	}
}

func TestImportTable(t *testing.T) {
	g := NewWithT(t)
	pkgs := listPackages(t, "./...")
	g.Expect(len(pkgs)).To(BeNumerically(">", 5), "go list found the packages")
	for _, p := range pkgs {
		for _, v := range importViolations(p) {
			t.Error(v)
		}
	}
}

// importViolations returns one line for each rule that p breaks.
func importViolations(p listedPackage) []string {
	name := strings.TrimPrefix(p.ImportPath, module+"/")
	if name == module {
		return nil // tests only
	}
	rule, ok := importRules[name]
	if !ok {
		return []string{fmt.Sprintf("%s has no row in the import table", name)}
	}
	var bad []string
	for _, imp := range p.Imports {
		own, ours := strings.CutPrefix(imp, module+"/")
		if ours && !slices.Contains(rule.may, own) {
			bad = append(bad, fmt.Sprintf("%s imports %s: %s", name, own, rule.reason))
		}
	}
	for _, dep := range p.Deps {
		for banned, reason := range testOnly {
			if (dep == banned || strings.HasPrefix(dep, banned+"/")) && name != "rocm/conformance" {
				bad = append(bad, fmt.Sprintf("%s reaches %s outside its tests: %s", name, dep, reason))
			}
		}
	}
	return bad
}

// TestImportTableNotices plants violations: a table that accepts everything
// would pass the test above.
func TestImportTableNotices(t *testing.T) {
	g := NewWithT(t)
	g.Expect(importViolations(listedPackage{ImportPath: "rocstress/rocm", Imports: []string{"rocstress/rocm/sim"}})).
		To(ConsistOf(ContainSubstring("rocm imports rocm/sim")))
	g.Expect(importViolations(listedPackage{ImportPath: "rocstress/reports", Deps: []string{"github.com/onsi/gomega/types"}})).
		To(ConsistOf(ContainSubstring("outside its tests")))
	g.Expect(importViolations(listedPackage{ImportPath: "rocstress/util"})).
		To(ConsistOf(ContainSubstring("no row")))
	g.Expect(importViolations(listedPackage{ImportPath: "rocstress/rocm/sim", Imports: []string{"rocstress/rocm", "fmt"}})).
		To(BeEmpty())
}
