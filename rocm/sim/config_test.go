package sim_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"rocstress/rocm/sim"
)

func TestParseConfigReadsEveryKey(t *testing.T) {
	g := NewWithT(t)
	got, err := sim.ParseConfig("arch=gfx90a:sramecc+:xnack-,devices=2,memory=64MiB,max-threads=512,warp=64," +
		"processors=104,create=1s,set-stream=1us,select=2us,compile=3ms,launch=4us,memset-rate=1KiB," +
		"copy-rate=5,gemm-rate=6,create-fails=7,create-status=5,set-stream-fails=8,set-stream-status=3," +
		"gemm-ex-fails=9,gemm-ex-status=2")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(sim.Config{
		Arch: "gfx90a:sramecc+:xnack-", Devices: 2, Memory: 64 << 20, MaxThreads: 512, Warp: 64, Processors: 104,
		Create: time.Second, SetStream: time.Microsecond, Select: 2 * time.Microsecond,
		Compile: 3 * time.Millisecond, Launch: 4 * time.Microsecond,
		MemsetRate: 1024, CopyRate: 5, GEMMRate: 6,
		CreateFails: 7, CreateStatus: 5, SetStreamFails: 8, SetStreamStatus: 3,
		GemmExFails: 9, GemmExStatus: 2,
	}))
	g.Expect(sim.ParseConfig("")).To(Equal(sim.DefaultConfig()))
	g.Expect(sim.ParseConfig("devices=0")).To(HaveField("Devices", 0))
}

func TestParseConfigRefuses(t *testing.T) {
	for spec, want := range map[string]string{
		"arhc=gfx1151":          `sim setting "arhc" \(value "gfx1151"\): unknown key; accepted keys: arch, devices, .*set-stream-status, gemm-ex-fails, gemm-ex-status$`,
		"arch":                  `sim setting "arch": want key=value; accepted keys: arch`,
		"devices=1,":            `sim setting "": want key=value`,
		"devices=two":           `sim setting devices="two": want a whole number: invalid syntax`,
		"devices=-1":            `sim setting devices=-1: want 0 to 16`,
		"devices=17":            `sim setting devices=17: want 0 to 16`,
		"devices=1,devices=1":   `sim setting devices=1: the key is given twice`,
		"create=4":              `sim setting create="4": want a duration such as 4ms`,
		"create=-1ms":           `sim setting create=-1ms: want 0s to 1h0m0s`,
		"memory=1":              `sim setting memory=1: want 4KiB to 1024GiB`,
		"memory=1GB":            `sim setting memory="1GB": want a whole number, with KiB`,
		"memory=99999999999GiB": `sim setting memory="99999999999GiB": want .*: value out of range`,
		"create-status=0":       `sim setting create-status=0: want 1 to 15`,
		"gemm-ex-status=16":     `sim setting gemm-ex-status=16: want 1 to 15`,
		"arch=":                 `sim setting arch=: want an architecture`,
		"arch=a b":              `sim setting arch=a b: want an architecture`,
	} {
		_, err := sim.ParseConfig(spec)
		NewWithT(t).Expect(err).To(MatchError(MatchRegexp("^"+want)), spec)
	}
	_, err := sim.Open(sim.Config{})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("sim setting arch=")))
}

func FuzzParseConfig(f *testing.F) {
	f.Add("")
	f.Add(sim.DefaultConfig().String())
	f.Add("devices=2,memory=3GiB")
	f.Add("create=-1ns,,=")
	f.Fuzz(func(t *testing.T, spec string) {
		g := NewWithT(t)
		c, err := sim.ParseConfig(spec)
		if err != nil {
			g.Expect(c).To(Equal(sim.Config{}))
			return
		}
		g.Expect(c.Validate()).To(Succeed())
		g.Expect(sim.ParseConfig(c.String())).To(Equal(c), "what String writes, ParseConfig reads")
	})
}
