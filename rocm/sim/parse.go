package sim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// setting is one key of ParseConfig.
type setting struct {
	key    string
	want   string
	parse  func(c *Config, v string) error
	format func(c *Config) string
}

// settings returns every key, in the order of the documentation.
func settings() []setting {
	return []setting{
		{"arch", "an architecture",
			func(c *Config, v string) error { c.Arch = v; return nil },
			func(c *Config) string { return c.Arch }},
		count("devices", func(c *Config) *int { return &c.Devices }),
		amount("memory", func(c *Config) *uint64 { return &c.Memory }),
		count("max-threads", func(c *Config) *int { return &c.MaxThreads }),
		count("warp", func(c *Config) *int { return &c.Warp }),
		count("processors", func(c *Config) *int { return &c.Processors }),
		latency("create", func(c *Config) *time.Duration { return &c.Create }),
		latency("set-stream", func(c *Config) *time.Duration { return &c.SetStream }),
		latency("select", func(c *Config) *time.Duration { return &c.Select }),
		latency("compile", func(c *Config) *time.Duration { return &c.Compile }),
		latency("launch", func(c *Config) *time.Duration { return &c.Launch }),
		amount("memset-rate", func(c *Config) *uint64 { return &c.MemsetRate }),
		amount("copy-rate", func(c *Config) *uint64 { return &c.CopyRate }),
		amount("gemm-rate", func(c *Config) *uint64 { return &c.GEMMRate }),
		count("create-fails", func(c *Config) *int { return &c.CreateFails }),
		count("create-status", func(c *Config) *int { return &c.CreateStatus }),
		count("set-stream-fails", func(c *Config) *int { return &c.SetStreamFails }),
		count("set-stream-status", func(c *Config) *int { return &c.SetStreamStatus }),
		count("gemm-ex-fails", func(c *Config) *int { return &c.GemmExFails }),
		count("gemm-ex-status", func(c *Config) *int { return &c.GemmExStatus }),
	}
}

func count(key string, at func(*Config) *int) setting {
	return setting{key, "a whole number",
		func(c *Config, v string) error {
			n, err := strconv.ParseInt(v, 10, 32)
			*at(c) = int(n)
			return err
		},
		func(c *Config) string { return strconv.Itoa(*at(c)) }}
}

func latency(key string, at func(*Config) *time.Duration) setting {
	return setting{key, "a duration such as 4ms or 15us",
		func(c *Config, v string) error {
			d, err := time.ParseDuration(v)
			*at(c) = d
			return err
		},
		func(c *Config) string { return at(c).String() }}
}

func amount(key string, at func(*Config) *uint64) setting {
	return setting{key, "a whole number, with KiB, MiB or GiB if you like",
		func(c *Config, v string) error {
			n, err := parseAmount(v)
			*at(c) = n
			return err
		},
		func(c *Config) string { return formatAmount(*at(c)) }}
}

// units are the suffixes of an amount, largest first.
func units() []struct {
	suffix string
	shift  uint
} {
	return []struct {
		suffix string
		shift  uint
	}{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}}
}

func parseAmount(v string) (uint64, error) {
	for _, u := range units() {
		digits, ok := strings.CutSuffix(v, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 64)
		if err == nil && n > (1<<63)>>u.shift {
			err = strconv.ErrRange
		}
		return n << u.shift, err
	}
	return strconv.ParseUint(v, 10, 64)
}

func formatAmount(n uint64) string {
	for _, u := range units() {
		if n >= 1<<u.shift && n%(1<<u.shift) == 0 {
			return strconv.FormatUint(n>>u.shift, 10) + u.suffix
		}
	}
	return strconv.FormatUint(n, 10)
}

// ParseConfig reads "key=value,..." over DefaultConfig. The empty string is
// DefaultConfig. It is strict: the error names the key, the value and what is
// accepted.
func ParseConfig(spec string) (Config, error) {
	c := DefaultConfig()
	if spec == "" {
		return c, nil
	}
	seen := map[string]bool{}
	for item := range strings.SplitSeq(spec, ",") {
		key, value, ok := strings.Cut(item, "=")
		if !ok {
			return Config{}, fmt.Errorf("sim setting %q: want key=value; accepted keys: %s", item, keys())
		}
		s := settingOf(key)
		if s.parse == nil {
			return Config{}, fmt.Errorf("sim setting %q (value %q): unknown key; accepted keys: %s", key, value, keys())
		}
		if seen[key] {
			return Config{}, fmt.Errorf("sim setting %s=%s: the key is given twice", key, value)
		}
		seen[key] = true
		if err := s.parse(&c, value); err != nil {
			return Config{}, fmt.Errorf("sim setting %s=%q: want %s: %w", key, value, s.want, reason(err))
		}
	}
	if err := c.Validate(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// String returns every setting in the form ParseConfig reads.
func (c Config) String() string {
	var items []string
	for _, s := range settings() {
		items = append(items, s.key+"="+s.format(&c))
	}
	return strings.Join(items, ",")
}

// settingOf returns the setting of a key, or one without functions.
func settingOf(key string) setting {
	for _, s := range settings() {
		if s.key == key {
			return s
		}
	}
	return setting{}
}

// formatAs writes a bound in the notation of a key's values.
func formatAs(key string, n uint64) string {
	switch settingOf(key).want {
	case latency("", nil).want:
		return time.Duration(n).String()
	case amount("", nil).want:
		return formatAmount(n)
	}
	return strconv.FormatUint(n, 10)
}

func keys() string {
	var names []string
	for _, s := range settings() {
		names = append(names, s.key)
	}
	return strings.Join(names, ", ")
}

// reason drops the name of the parsing function from a strconv error.
func reason(err error) error {
	var num *strconv.NumError
	if errors.As(err, &num) {
		return num.Err
	}
	return err
}
