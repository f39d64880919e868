package hip

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// cleanEnv is this process's environment without what steers the search.
func cleanEnv() []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case EnvHIP, EnvRocBLAS, EnvHIPRTC, envROCm, "ROCSTRESS_ABI", childEnv:
		default:
			env = append(env, kv)
		}
	}
	return env
}

// childLimit ends a child that hangs. None takes seconds on an idle host.
const childLimit = 2 * time.Minute

// reexec runs a child function in a process of its own, with vars set, and
// reads what it returned. It returns the child's stderr.
func reexec(child string, result any, vars ...string) string {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(context.Background(), childLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(append(cleanEnv(), childEnv+"="+child), vars...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	Expect(err).NotTo(HaveOccurred(), "child %s\n%s%s", child, stdout.String(), stderr.String())
	Expect(json.Unmarshal(stdout.Bytes(), result)).To(Succeed(), stdout.String())
	return stderr.String()
}

// cpuABI returns the CPU test ABI as a setting, or skips.
func cpuABI() string {
	GinkgoHelper()
	path, err := buildABI("cpu")
	skipUnbuildable(err)
	return EnvHIP + "=" + path
}

func skipUnbuildable(err error) {
	GinkgoHelper()
	if errors.Is(err, errUnbuildable) {
		Skip(err.Error())
	}
	Expect(err).NotTo(HaveOccurred())
}
