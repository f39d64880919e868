package open

import (
	"fmt"
	"strconv"
	"strings"

	"rocstress/rocm/sim"
)

// Check reports what Open would refuse about the form of spec. It opens
// nothing and loads no library, so that a process may call it that must never
// hold a GPU library. Its errors are those of Open.
func Check(spec string) error {
	kind, rest, has := strings.Cut(spec, ":")
	switch {
	case has && rest == "":
	case kind == "sim":
		_, err := sim.ParseConfig(rest)
		return err
	case kind == "hip":
		_, err := parseOrdinal(rest)
		return err
	}
	return unknown(spec)
}

// maxOrdinal is far above the number of devices of any host.
const maxOrdinal = 255

// parseOrdinal reads the N of "hip:N"; nothing means device 0.
func parseOrdinal(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n > maxOrdinal {
		return 0, fmt.Errorf("unknown device %q; accepted: hip:N with N from 0 to %d", "hip:"+s, maxOrdinal)
	}
	return int(n), nil
}
