package childproc

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"rocstress/childproc/wire"
)

func TestPropKeeperKeepsBothEnds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		size := rapid.IntRange(1, 20).Draw(rt, "max")
		k := &keeper{max: size}
		var all []byte
		for _, n := range rapid.SliceOf(rapid.IntRange(0, 50)).Draw(rt, "writes") {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(len(all) + i)
			}
			all = append(all, b...)
			k.write(b)
		}
		o := k.output()
		head := min(size, len(all))
		tail := min(size, len(all)-head)
		g.Expect(bytes.Equal(o.Head, all[:head])).To(BeTrue(), "head %v", o.Head)
		g.Expect(bytes.Equal(o.Tail, all[len(all)-tail:])).To(BeTrue(), "tail %v", o.Tail)
		g.Expect(o.Dropped).To(BeEquivalentTo(len(all) - head - tail))
		g.Expect(o.Total()).To(BeEquivalentTo(len(all)))
		if o.Dropped == 0 {
			g.Expect(bytes.Equal(o.Bytes(), all)).To(BeTrue())
		}
	})
}

// TestPropEventLines compares with splitting the whole stream at once, however
// the stream was cut into reads.
func TestPropEventLines(t *testing.T) {
	long := bytes.Repeat([]byte("x"), wire.MaxEventBytes)
	fits := fmt.Appendf(nil, `{"ev":"check","check":{"name":"n","ok":true,"detail":%q}}`, "")
	fits = fmt.Appendf(nil, `{"ev":"check","check":{"name":"n","ok":true,"detail":%q}}`,
		strings.Repeat("d", wire.MaxEventBytes-1-len(fits)))
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		lines := rapid.SliceOf(rapid.SampledFrom([][]byte{
			[]byte(`{"ev":"done"}`), []byte(`{"ev":"provoked","provoked":"x"}`), []byte("junk"), nil, long, fits, long[1:],
		})).Draw(rt, "lines")
		stream := bytes.Join(lines, []byte("\n"))
		var want, got []wire.Kind
		bad := 0
		for i, line := range lines {
			if i == len(lines)-1 && len(line) == 0 {
				break // nothing follows the last newline
			}
			if e, err := wire.DecodeEvent(line); err == nil {
				want = append(want, e.Kind)
			} else {
				bad++
			}
		}
		l := &eventLines{on: func(e wire.Event) { got = append(got, e.Kind) }}
		for len(stream) > 0 {
			n := min(len(stream), rapid.SampledFrom([]int{1, 7, 1000, drainBytes, 1 << 20}).Draw(rt, "read"))
			if n < 1000 {
				l.feed(stream[:n])
			} else {
				l.feed(bytes.Clone(stream[:n])) // the reader reuses its buffer
			}
			stream = stream[n:]
		}
		l.finish()
		g.Expect(got).To(Equal(want))
		g.Expect(l.bad).To(Equal(bad))
		g.Expect(l.sample == "").To(Equal(bad == 0))
		g.Expect(len(l.sample)).To(BeNumerically("<=", maxSample))
		g.Expect(cap(l.line)).To(BeNumerically("<", 2*wire.MaxEventBytes))
	})
}

func FuzzEventLines(f *testing.F) {
	f.Add([]byte("{\"ev\":\"done\"}\n\x00\n"), 3)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		g := NewWithT(t)
		cut = max(0, min(cut, len(b)))
		n := 0
		l := &eventLines{on: func(wire.Event) { n++ }}
		l.feed(b[:cut])
		l.feed(b[cut:])
		l.finish()
		lines := bytes.Count(b, []byte("\n"))
		if len(b) > 0 && b[len(b)-1] != '\n' {
			lines++
		}
		g.Expect(n + l.bad).To(Equal(lines))
	})
}

func TestReadStatOfHostileNames(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	stat := "7 (a) R 1 (b) S 1 42 0 0 0 0 0 0 0 0 300 200 0 0"
	g.Expect(os.WriteFile(dir+"/stat", []byte(stat), 0o600)).To(Succeed())
	name, f, ok := readStat(dir)
	g.Expect(ok).To(BeTrue())
	g.Expect(name).To(Equal("a) R 1 (b"))
	g.Expect(f[statState] + " " + f[statPgrp]).To(Equal("S 42"))
	g.Expect(f[statUtime] + " " + f[statStime]).To(Equal("300 200"))
	for _, bad := range []string{"", "7", "7 (a", "7 )a(", "7 (a) R 1"} {
		g.Expect(os.WriteFile(dir+"/stat", []byte(bad), 0o600)).To(Succeed())
		_, _, ok := readStat(dir)
		g.Expect(ok).To(BeFalse(), bad)
	}
}

func TestEvidenceOfWhatIsGone(t *testing.T) {
	g := NewWithT(t)
	gone := 1 << 30 // above the largest pid_max, 2^22
	e := collectEvidence(gone, time.Now(), make(chan struct{}))
	g.Expect(e.Threads).To(BeEmpty())
	g.Expect(e.Error).To(ContainSubstring("/proc/1073741824/task"))
}
