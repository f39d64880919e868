package harness

import (
	"slices"
	"strings"

	"rocstress/childproc/wire"
)

// RelevantEnv returns the variables of environ (as os.Environ gives it) that
// decide which device and libraries children meet and how they behave. Values
// of variables that are named like secrets are hidden.
func RelevantEnv(environ []string) map[string]string {
	relevant := map[string]string{}
	for _, kv := range hideSecrets(environ) {
		name, value, _ := strings.Cut(kv, "=")
		if isRelevant(name) {
			relevant[name] = value
		}
	}
	return relevant
}

func isRelevant(name string) bool {
	// CUDA_ is read by HIP too (CUDA_VISIBLE_DEVICES), and by a test ABI.
	for _, prefix := range [...]string{"HIP_", "ROCR_", "AMD_", "HSA_", "GPU_", "ROCM_", "ROCBLAS_", "HIPBLASLT_", "CUDA_", "MLX_", "STRESS_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{"LD_LIBRARY_PATH", "LD_PRELOAD", "GODEBUG", "GOMAXPROCS", wire.EnvABI}, name)
}

// hideSecrets returns env without the values of variables that are named like
// secrets: results are uploaded as build artifacts.
func hideSecrets(env []string) []string {
	out := slices.Clone(env)
	for i, kv := range out {
		name, _, _ := strings.Cut(kv, "=")
		upper := strings.ToUpper(name)
		for _, word := range [...]string{"TOKEN", "SECRET", "PASSW", "CREDENTIAL", "APIKEY", "API_KEY", "PRIVATE_KEY", "ACCESS_KEY"} {
			if strings.Contains(upper, word) {
				out[i] = name + "=(hidden)"
			}
		}
	}
	slices.Sort(out)
	return out
}
