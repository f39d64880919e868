package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"rocstress/childproc/wire"
	"rocstress/scenarios"
)

// value is a flag with a parser. Its error says what is accepted; the parser
// of the command line adds the flag and the value (see flagError).
type value[T any] struct {
	to    *T
	kind  string // in --help
	parse func(string) (T, error)
	show  func(T) string // the default in --help; nil: none
	given bool
}

// String returns the default for --help.
func (v *value[T]) String() string {
	if v.to == nil || v.show == nil {
		return ""
	}
	return v.show(*v.to)
}

// Set parses s.
func (v *value[T]) Set(s string) error {
	t, err := v.parse(s)
	if err != nil {
		return err
	}
	*v.to, v.given = t, true
	return nil
}

// Type returns the word for the value in --help.
func (v *value[T]) Type() string { return v.kind }

// showCount shows a default, and nothing for "unset".
func showCount(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// count is a whole number from 1 to most.
func count(to *int, most int) *value[int] {
	return &value[int]{to: to, kind: "N", show: showCount, parse: func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > most {
			return 0, fmt.Errorf("want a whole number from 1 to %d", most)
		}
		return n, nil
	}}
}

// seed is any unsigned number of 64 bits.
func seed(to *uint64) *value[uint64] {
	return &value[uint64]{to: to, kind: "N", parse: func(s string) (uint64, error) {
		n, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			return 0, fmt.Errorf("want a whole number from 0 to %d", uint64(math.MaxUint64))
		}
		return n, nil
	}}
}

// maxDuration is far beyond any campaign and far from overflow.
const maxDuration = 365 * 24 * time.Hour

func duration(to *time.Duration) *value[time.Duration] {
	return &value[time.Duration]{to: to, kind: "D", parse: func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d < time.Millisecond || d > maxDuration {
			return 0, fmt.Errorf("want a duration from 1ms to %gh, such as 90s or 10m", maxDuration.Hours())
		}
		return d, nil
	}}
}

// patience is a duration that may be 0.
func patience(to *time.Duration) *value[time.Duration] {
	return &value[time.Duration]{to: to, kind: "D", show: time.Duration.String, parse: func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 || d > maxDuration {
			return 0, fmt.Errorf("want 0 or a duration up to %gh, such as 90s or 10m", maxDuration.Hours())
		}
		return d, nil
	}}
}

// oneOf is one of a few words.
func oneOf(to *string, kind string, accepted ...string) *value[string] {
	return &value[string]{to: to, kind: kind, show: func(s string) string { return s }, parse: func(s string) (string, error) {
		if slices.Contains(accepted, s) {
			return s, nil
		}
		hint := ""
		if near := nearest(s, accepted); near != "" {
			hint = "did you mean " + near + "? "
		}
		return "", fmt.Errorf("%saccepted: %s", hint, strings.Join(accepted, ", "))
	}}
}

// maxSide bounds one side of a matrix: 64 Mi elements are more than a test of
// locks needs, and fewer than exhaust a host.
const maxSide = 8192

func shape(to *wire.Shape) *value[wire.Shape] {
	return &value[wire.Shape]{to: to, kind: "MxKxN", parse: func(s string) (wire.Shape, error) {
		var sides [3]int
		parts := strings.Split(s, "x")
		ok := len(parts) == len(sides)
		for i := range sides {
			if ok {
				n, err := strconv.Atoi(parts[i])
				ok = err == nil && n >= 1 && n <= maxSide
				sides[i] = n
			}
		}
		most := min(maxSide, scenarios.MaxK)
		if !ok || sides[1] > most {
			return wire.Shape{}, fmt.Errorf("want MxKxN such as 64x128x64, M and N from 1 to %d, K from 1 to %d", maxSide, most)
		}
		return wire.Shape{M: sides[0], K: sides[1], N: sides[2]}, nil
	}}
}

func load(to *string) *value[string] {
	return &value[string]{to: to, kind: "auto|off|SIZE", parse: func(s string) (string, error) {
		if _, err := scenarios.ParseLoad(s); err != nil || s == "" {
			return "", fmt.Errorf("accepted: auto, off, or a size from 1 to 64GiB such as 256MiB")
		}
		return s, nil
	}}
}

// names is a list separated by commas; the flag may be repeated.
func names(to *[]string) *value[[]string] {
	return &value[[]string]{to: to, kind: "ID,...", parse: func(s string) ([]string, error) {
		list := *to
		for name := range strings.SplitSeq(s, ",") {
			if name = strings.TrimSpace(name); name == "" {
				return nil, fmt.Errorf("want names separated by commas")
			}
			list = append(list, name)
		}
		return list, nil
	}}
}

// path is a file or a directory.
func path(to *string, kind string) *value[string] {
	return &value[string]{to: to, kind: kind, parse: func(s string) (string, error) {
		if s == "" || strings.ContainsRune(s, 0) {
			return "", fmt.Errorf("want a path")
		}
		return s, nil
	}}
}
