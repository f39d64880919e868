package rocm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Protection is the stable id of one safeguard of the Device that can be
// removed alone. A removed protection is racy logic on atomics, never a Go
// data race.
type Protection string

// The protections.
const (
	RocBLASInitLock           Protection = "rocblas-init-lock"
	RocBLASPublishAfterCreate Protection = "rocblas-publish-after-create"
	RocBLASBindLock           Protection = "rocblas-bind-lock"
	RocBLASStatusCheck        Protection = "rocblas-status-check"
	RocBLASRetryAfterFailure  Protection = "rocblas-retry-after-failure"
	ArchAtConstruction        Protection = "arch-at-construction"
	NoResetProbe              Protection = "no-reset-probe"
)

// ProtectionInfo describes a protection for people.
type ProtectionInfo struct {
	ID      Protection
	Guards  string // what it protects
	Removed string // what the code does without it
	Seed    string // the public issue it comes from
}

// Protections returns every protection, in the order of the documentation.
func Protections() []ProtectionInfo {
	return []ProtectionInfo{
		{RocBLASInitLock, "one creation of the handle, by one thread at a time",
			"both entry points create without the mutex (the bind lock still spans bind and GEMM)", "#2198"},
		{RocBLASPublishAfterCreate, "ready is set only after the handle exists",
			"the flag is set before the create and never taken back; flag and handle are read before the lock", "#2198"},
		{RocBLASBindLock, "bind and GEMM are one critical section",
			"bind, release, GEMM", "#2198"},
		{RocBLASStatusCheck, "the status of a GEMM and of a bind",
			"the status is dropped", "#2198"},
		{RocBLASRetryAfterFailure, "a failed creation is not cached",
			"rocBLAS stays unavailable for ever", "#2198"},
		{ArchAtConstruction, "architecture facts are computed before any thread asks",
			"lazy getters that set their flag before the work", "#2198"},
		{NoResetProbe, "no probe resets the device",
			"the first bf16 query runs a probe GEMM; where it fails, the device is reset and the handle destroyed and recreated under its users", "#2198"},
	}
}

// oldDevice lists the members of the group old-device, the Device as it was
// before the seed issue was fixed.
var oldDevice = [...]Protection{
	RocBLASInitLock, RocBLASPublishAfterCreate, RocBLASBindLock, RocBLASStatusCheck,
	RocBLASRetryAfterFailure, ArchAtConstruction, NoResetProbe,
}

// Groups returns the named groups of protections. A group is legal wherever an
// id is.
func Groups() map[string][]Protection {
	var all, old []Protection
	for _, p := range Protections() {
		all = append(all, p.ID)
		if slices.Contains(oldDevice[:], p.ID) {
			old = append(old, p.ID)
		}
	}
	return map[string][]Protection{
		"old-device": old,
		"locks":      {RocBLASInitLock, RocBLASBindLock},
		"all":        all,
	}
}

// Set is a set of protections. The zero value is empty.
type Set map[Protection]bool

// Has reports whether p is in the set.
func (s Set) Has(p Protection) bool { return s[p] }

// IDs returns the members, sorted.
func (s Set) IDs() []string {
	ids := make([]string, 0, len(s))
	for p, in := range s {
		if in {
			ids = append(ids, string(p))
		}
	}
	slices.Sort(ids)
	return ids
}

// ParseSet reads protection ids and group names. The error names the first
// unknown one and everything that is accepted.
func ParseSet(names []string) (Set, error) {
	groups := Groups()
	set := Set{}
	for _, name := range names {
		if members, ok := groups[name]; ok {
			for _, p := range members {
				set[p] = true
			}
			continue
		}
		if !slices.ContainsFunc(Protections(), func(i ProtectionInfo) bool { return string(i.ID) == name }) {
			return nil, fmt.Errorf("unknown protection %q; accepted: %s", name, strings.Join(acceptedNames(), ", "))
		}
		set[Protection(name)] = true
	}
	return set, nil
}

// GroupOf returns the name of the group that has exactly the members of s, or
// "". "all" is named only where no other group says the same.
func GroupOf(s Set) string {
	ids := s.IDs()
	groups := Groups()
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(groups)), func(n string) bool { return n == "all" })
	for _, name := range append(names, "all") {
		members := Set{}
		for _, p := range groups[name] {
			members[p] = true
		}
		if slices.Equal(members.IDs(), ids) {
			return name
		}
	}
	return ""
}

func acceptedNames() []string {
	var names []string
	for _, p := range Protections() {
		names = append(names, string(p.ID))
	}
	var groups []string
	for g := range Groups() {
		groups = append(groups, g)
	}
	slices.Sort(groups)
	return append(names, groups...)
}
