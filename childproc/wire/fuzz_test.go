package wire_test

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"

	"rocstress/childproc/wire"
)

// FuzzDecodeSpec: what is accepted is bounded, of this version, and the same
// again after a round trip.
func FuzzDecodeSpec(f *testing.F) {
	doc, err := wire.Spec{Scenario: "first-gemm", Device: "sim", Removed: []string{"locks"}, Seed: 1 << 63}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(doc)
	f.Add(`{"v":1,"settings":{"shape":{"m":1}}}`)
	f.Add(`{"v":1}{}`)
	f.Fuzz(func(t *testing.T, doc string) {
		g := NewWithT(t)
		s, err := wire.DecodeSpec(doc)
		if err != nil {
			return
		}
		g.Expect(s.V).To(Equal(wire.SpecVersion))
		again, err := s.Encode()
		if err != nil {
			// Escaping may make a document longer than the bound.
			g.Expect(len(doc)).To(BeNumerically(">", 1<<10))
			return
		}
		back, err := wire.DecodeSpec(again)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(back).To(Equal(s))
	})
}

// FuzzDecodeEvent: what is accepted has its content, and survives being sent
// on.
func FuzzDecodeEvent(f *testing.F) {
	for _, e := range whole() {
		var b bytes.Buffer
		if err := wire.NewWriter(&b).Send(e); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"ev":"check"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		g := NewWithT(t)
		e, err := wire.DecodeEvent(line)
		if err != nil {
			return
		}
		switch e.Kind {
		case wire.KindHello:
			g.Expect(e.Hello).NotTo(BeNil())
		case wire.KindRelease:
			g.Expect(e.Release).NotTo(BeNil())
		case wire.KindOp:
			g.Expect(e.Op).NotTo(BeNil())
		case wire.KindCheck:
			g.Expect(e.Check).NotTo(BeNil())
		case wire.KindFirstError:
			g.Expect(e.FirstError).NotTo(BeNil())
		}
		e.At = max(e.At, 1) // a zero is stamped
		var b bytes.Buffer
		if err := wire.NewWriter(&b).Send(e); err != nil {
			g.Expect(len(line)).To(BeNumerically(">", 1<<10)) // escaping made it too long
			return
		}
		back, err := wire.DecodeEvent(b.Bytes())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(back.Kind).To(Equal(e.Kind))
		g.Expect(back.At).To(Equal(e.At))
	})
}
