package childproc_test

import (
	"runtime"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"rocstress/childproc"
	"rocstress/childproc/wire"
)

var _ = Describe("outputs", func() {
	b := newBed()

	It("drains 1 GiB on both streams at once in little memory", func(ctx SpecContext) {
		var before, after runtime.MemStats
		var seen [2]atomic.Int64
		runtime.ReadMemStats(&before)
		e := b.run(ctx, childproc.Spec{
			Entry:   "flood",
			Observe: func(s childproc.Stream, p []byte) { seen[s].Add(int64(len(p))) },
		})
		runtime.ReadMemStats(&after)
		Expect(e.Code).To(Equal(0))
		for s, out := range []childproc.Output{e.Stdout, e.Stderr} {
			Expect(seen[s].Load()).To(BeEquivalentTo(floodBytes))
			Expect(out.Total()).To(BeEquivalentTo(floodBytes))
			Expect(out.Head).To(HaveLen(childproc.DefaultKeepBytes))
			Expect(out.Tail).To(HaveLen(childproc.DefaultKeepBytes))
			Expect(string(out.Head)).To(HavePrefix("begin5"))
			Expect(string(out.Tail)).To(And(HaveSuffix("abend\n"), HavePrefix("0123456789abcde\n")))
			Expect(out.String()).To(ContainSubstring("\n[... 1073610752 bytes dropped ...]\n"))
		}
		Expect(after.TotalAlloc-before.TotalAlloc).To(BeNumerically("<", 8<<20), "bytes allocated, freed ones included")
	})

	It("keeps as much as it is told to", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{Path: "printf", Args: []string{"abcdefghij"}, KeepBytes: 3})
		Expect(e.Stdout).To(Equal(childproc.Output{Head: []byte("abc"), Tail: []byte("hij"), Dropped: 4}))
		Expect(e.Stdout.String()).To(Equal("abc\n[... 4 bytes dropped ...]\nhij"))
	})

	It("tells the streams apart", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{Path: "sh", Args: []string{"-c", "echo out; echo err >&2"}})
		Expect(e.Stdout.String()).To(Equal("out\n"))
		Expect(e.Stderr.String()).To(Equal("err\n"))
		Expect(childproc.Stdout.String() + childproc.Stderr.String()).To(Equal("stdoutstderr"))
	})
})

var _ = Describe("events", func() {
	b := newBed()
	kinds := func() (out []wire.Kind) {
		for _, e := range b.events {
			out = append(out, e.Kind)
		}
		return out
	}

	It("all arrive, in order, before Run returns", func(ctx SpecContext) {
		const n = 2000
		e := b.run(ctx, childproc.Spec{Entry: "count", Orders: wire.Spec{Child: n}})
		Expect(e.BadEvents).To(BeZero())
		got := b.told("n")
		Expect(got).To(HaveLen(n))
		for i, c := range got {
			Expect(c.Count).To(Equal(i))
		}
		Expect(e.Events.Head).To(HavePrefix(`{"ev":"check"`))
		Expect(e.Events.Total()).To(BeNumerically(">", childproc.DefaultKeepBytes))
	})

	It("survive garbage and a line of 10 MiB between them", func(ctx SpecContext) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		e := b.run(ctx, childproc.Spec{Entry: "garbage"})
		runtime.ReadMemStats(&after)
		Expect(e.Code).To(Equal(0))
		Expect(b.only("first").Count).To(Equal(1))
		Expect(b.only("second").Count).To(Equal(2))
		Expect(b.events).To(HaveLen(2))
		Expect(e.BadEvents).To(Equal(4)) // garbage, an unknown kind, an empty line, the long one
		Expect(e.BadEventSample).To(Equal(
			`"\x00\xff not an event": event line: invalid character '\x00' looking for beginning of value`))
		Expect(e.Events.Total()).To(BeNumerically(">", 10<<20))
		Expect(after.TotalAlloc - before.TotalAlloc).To(BeNumerically("<", 4<<20))
	})

	It("may have no pipe any more", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{Entry: "close-fd3"})
		Expect(e.Code).To(Equal(0))
		Expect(b.events).To(BeEmpty())
	})

	It("include done, and the signal after it is told as well", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{Entry: "done", Orders: wire.Spec{Child: 1, Run: int(unix.SIGSEGV)}})
		Expect(kinds()).To(Equal([]wire.Kind{wire.KindDone}))
		Expect(e.Signal).To(Equal(unix.SIGSEGV))
	})

	It("are passed on as often as they come", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{Entry: "done", Orders: wire.Spec{Child: 2}})
		Expect(kinds()).To(Equal([]wire.Kind{wire.KindDone, wire.KindDone}))
		Expect(e.BadEvents).To(BeZero())
		Expect(b.events[1].At).To(BeNumerically(">", 0))
		Expect(b.events[1].At).To(BeNumerically("<", time.Minute))
	})

	It("may be torn at the very end", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{Entry: "torn"})
		Expect(kinds()).To(Equal([]wire.Kind{wire.KindDone}))
		Expect(e.BadEvents).To(Equal(1))
		Expect(e.BadEventSample).To(ContainSubstring(`{\"ev\":\"che`))
	})
})
