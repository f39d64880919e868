package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"rocstress/childproc/wire"
)

// fingerprintBytes of a digest tell the installations of one machine apart.
const fingerprintBytes = 6

// Fingerprint stands for the libraries that a child mapped, in any order: 12
// hex digits, or "" for none. Two children with the same one ran the same
// code: it covers names and build ids, and the path of a library without a
// build id.
func Fingerprint(libs []wire.Library) string {
	if len(libs) == 0 {
		return ""
	}
	var parts []string
	for _, l := range libs {
		parts = append(parts, l.Name+"\x00"+identity(l))
	}
	slices.Sort(parts)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:fingerprintBytes])
}

func identity(l wire.Library) string {
	if l.BuildID != "" {
		return "build id " + l.BuildID
	}
	return l.Path
}

// Difference names the first way in which two devices are not the same one, or
// run other libraries, with what was and what is; "" where they are the same.
// Where libraries lie makes no difference as long as they have build ids.
func Difference(was, is wire.Device) string {
	for _, f := range []struct{ name, was, is string }{
		{"driver", was.Driver, is.Driver}, {"test ABI", was.TestABI, is.TestABI},
		{"device", was.Name, is.Name}, {"architecture", was.Arch, is.Arch},
		{"HIP", was.Runtime, is.Runtime}, {"rocBLAS", was.BLAS, is.BLAS},
	} {
		if f.was != f.is {
			return fmt.Sprintf("%s was %q, is %q", f.name, f.was, f.is)
		}
	}
	find := func(libs []wire.Library, name string) string {
		i := slices.IndexFunc(libs, func(l wire.Library) bool { return l.Name == name })
		if i < 0 {
			return "not mapped"
		}
		return identity(libs[i])
	}
	for _, l := range slices.Concat(was.Libraries, is.Libraries) {
		if a, b := find(was.Libraries, l.Name), find(is.Libraries, l.Name); a != b {
			return fmt.Sprintf("library %s was %s, is %s", l.Name, a, b)
		}
	}
	return ""
}

// otherLibraries counts the children that did not run the libraries of the
// first one.
type otherLibraries struct {
	count int
	first Record // the lowest
}

func (o *otherLibraries) warning(scenario string, expected []wire.Library) string {
	if o.count == 0 {
		return ""
	}
	return fmt.Sprintf("%s: children that mapped other libraries than the first one did (%s): %d; %s, run %d, child %d has %s: these results mix installations",
		scenario, orNothing(Fingerprint(expected)), o.count, o.first.Arm, o.first.Run, o.first.Child, orNothing(o.first.Libraries))
}

func orNothing(fingerprint string) string {
	if fingerprint == "" {
		return "none"
	}
	return fingerprint
}
