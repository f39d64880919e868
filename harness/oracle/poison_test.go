package oracle

import (
	"math"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestPoisonIsNoResult(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		word := Poison(rapid.Uint64().Draw(rt, "buffer"))
		value := rapid.Int32().Draw(rt, "value")
		g.Expect(word).NotTo(Equal(math.Float32bits(float32(value))))
		g.Expect(isNaN(word)).To(BeTrue(), "no number at all equals it")
		g.Expect(word&quietBit).To(BeZero(), "no arithmetic delivers a signaling NaN")
		g.Expect(word).NotTo(Equal(InputPoison))
		g.Expect(fromInput(word)).To(BeFalse())
	})
}

func TestInputPoisonIsAQuietNaN(t *testing.T) {
	g := NewWithT(t)
	g.Expect(isNaN(InputPoison)).To(BeTrue())
	g.Expect(InputPoison & quietBit).NotTo(BeZero())
	const computed = 0x7fc00000 // what 0 times infinity gives on x86 with the sign, on GPUs without
	g.Expect(InputPoison).NotTo(BeElementOf(uint32(computed), uint32(computed|signBit), uint32(0x7fffffff)))
}

// Every exact float32 integer, all of them.
func TestNoExactIntegerIsPoison(t *testing.T) {
	for i := -MaxExact; i <= MaxExact; i++ {
		if w := math.Float32bits(float32(i)); isNaN(w) {
			t.Fatalf("float32(%d) = 0x%08x reads as poison", i, w)
		}
	}
}

func TestPoisonOfConsecutiveBuffersDiffers(t *testing.T) {
	seen := make([]bool, payloads+1)
	const start = 12345
	for buffer := uint64(start); buffer < start+payloads; buffer++ {
		payload := Poison(buffer) &^ outputPoison
		if payload == 0 || seen[payload] {
			t.Fatalf("buffer %d: payload 0x%x is zero or was given before", buffer, payload)
		}
		seen[payload] = true
	}
}
