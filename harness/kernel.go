package harness

import (
	"io/fs"
	"strings"
)

// KernelDrivers returns the versions of the GPU drivers in the kernel, as far
// as they can be read below root, which is the root of the file system. The
// version of amdgpu is that of a driver from outside the kernel; one that came
// with it has the kernel's.
func KernelDrivers(root fs.FS) map[string]string {
	drivers := map[string]string{}
	for _, d := range [...]struct {
		name, file string
		version    func(text string) string
	}{
		{"amdgpu", "sys/module/amdgpu/version", func(s string) string { return s }},
		{"nvidia", "proc/driver/nvidia/version", nvidiaVersion},
		{"linux", "proc/sys/kernel/osrelease", func(s string) string { return s }},
	} {
		text, err := fs.ReadFile(root, d.file)
		if err != nil {
			continue // no such driver, or it does not say
		}
		first, _, _ := strings.Cut(string(text), "\n")
		if v := bounded(d.version(strings.TrimSpace(first))); v != "" {
			drivers[d.name] = v
		}
	}
	return drivers
}

// nvidiaVersion leaves out who built the driver, on which machine and when:
// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  (builder@host)
// Tue ...".
func nvidiaVersion(line string) string {
	line = strings.TrimPrefix(line, "NVRM version:")
	line, _, _ = strings.Cut(line, "Release Build")
	line, _, _ = strings.Cut(line, "(")
	var kept []string
	for _, word := range strings.Fields(line) {
		kept = append(kept, word)
		if word[0] >= '0' && word[0] <= '9' { // the version: a date may follow
			break
		}
	}
	return strings.Join(kept, " ")
}
