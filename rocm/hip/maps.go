package hip

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rocstress/rocm"
)

// mapping is a file-backed line of /proc/self/maps.
type mapping struct {
	start, end uintptr // end is the first address behind it
	path       string
}

// readMaps returns the file-backed mappings of this process.
func readMaps() ([]mapping, error) {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, fmt.Errorf("which libraries are mapped cannot be told: %w", err)
	}
	return parseMaps(text), nil
}

// parseMaps reads the format of proc_pid_maps(5): "start-end perms offset
// dev inode path". Lines without a path are anonymous memory and no libraries.
func parseMaps(text []byte) []mapping {
	var found []mapping
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		slash := strings.IndexByte(line, '/')
		rng, _, _ := strings.Cut(line, " ")
		from, to, ok := strings.Cut(rng, "-")
		start, errStart := strconv.ParseUint(from, 16, 64)
		end, errEnd := strconv.ParseUint(to, 16, 64)
		if slash < 0 || !ok || errStart != nil || errEnd != nil {
			continue
		}
		found = append(found, mapping{uintptr(start), uintptr(end), strings.TrimSuffix(line[slash:], " (deleted)")})
	}
	return found
}

// fileAt returns the file that is mapped at an address, or "".
func fileAt(maps []mapping, addr uintptr) string {
	for _, m := range maps {
		if addr >= m.start && addr < m.end {
			return m.path
		}
	}
	return ""
}

// oneRuntime checks that own, the file HIP was loaded from, is the only HIP
// runtime in the process.
func oneRuntime(maps []mapping, own string) error {
	others := filesNamed(maps, "libamdhip64.so")
	others = slices.DeleteFunc(others, func(path string) bool { return path == own })
	if len(others) == 0 {
		return nil
	}
	return &rocm.LibraryError{Library: "one HIP runtime for the process", Tried: []string{
		own + ": loaded first",
		strings.Join(others, ", ") + ": mapped as well, by a library built for another HIP version; " +
			"make " + EnvRocBLAS + " and " + EnvHIP + " name libraries of one ROCm release"}}
}

// filesNamed returns the mapped files whose name is prefix or begins with it
// and a dot, each once, sorted.
func filesNamed(maps []mapping, prefix string) []string {
	var files []string
	for _, m := range maps {
		name := filepath.Base(m.path)
		if name == prefix || strings.HasPrefix(name, prefix+".") {
			files = append(files, m.path)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// companions are the libraries behind HIP and rocBLAS whose version decides
// how they behave: ROCr and the compiler of a real runtime, CUDA, cuBLAS and
// NVRTC of a test ABI.
func companions() []string {
	return []string{
		"libhsa-runtime64.so", "libhiprtc.so", "libamd_comgr.so", "libhipblaslt.so",
		"libcuda.so", "libcublas.so", "libcublasLt.so", "libnvrtc.so",
	}
}

// mapped describes the libraries that are mapped: those given by name and
// file, then their companions.
func mapped(maps []mapping, loaded ...rocm.Library) []rocm.Library {
	var libs []rocm.Library
	add := func(lib rocm.Library) {
		if !slices.ContainsFunc(libs, func(l rocm.Library) bool { return l.Path == lib.Path }) {
			libs = append(libs, lib)
		}
	}
	for _, lib := range loaded {
		add(lib)
	}
	for _, prefix := range companions() {
		for _, path := range filesNamed(maps, prefix) {
			add(describe(filepath.Base(path), path))
		}
	}
	return libs
}
