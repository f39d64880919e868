package hip

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
)

// childEnv names the child function that a re-executed test binary runs. A
// process can hold one HIP runtime, so each library gets a process of its own.
const childEnv = "ROCSTRESS_HIP_TEST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		os.Exit(runChild(name))
	}
	code := m.Run()
	removeBuilds()
	os.Exit(code)
}

// runChild runs one function of children and prints what it returned.
func runChild(name string) int {
	child, ok := children()[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "unknown child %q\n", name)
		return 2
	}
	result := child()
	if err := errors.Join(json.NewEncoder(os.Stdout).Encode(result), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}

func TestHip(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "rocm/hip")
}
