package team

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestOverlapIsTheDeepestInstant(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		at := rapid.Map(rapid.IntRange(0, 12), func(i int) time.Duration { return time.Duration(i) })
		spans := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) span {
			start := at.Draw(t, "start")
			return span{start, start + at.Draw(t, "length")}
		}), 0, 9).Draw(rt, "spans")
		deepest := 0
		for instant := range time.Duration(26) {
			depth := 0
			for _, s := range spans {
				if s.start <= instant && instant <= s.end {
					depth++
				}
			}
			deepest = max(deepest, depth)
		}
		g.Expect(overlap(spans)).To(Equal(deepest))
	})
}

func TestOverlapOfAnEndBeforeItsStart(t *testing.T) {
	NewWithT(t).Expect(overlap([]span{{5, 3}, {4, 4}})).To(Equal(1), "the end is a body's own word")
}

func TestSkewsCountFromTheFirst(t *testing.T) {
	g := NewWithT(t)
	members := []*Member{{passed: true, released: 70}, {passed: true, released: 50}, {passed: true, released: 51}}
	g.Expect(skews(members)).To(Equal([]int64{20, 0, 1}))
	members[2].passed = false
	g.Expect(skews(members)).To(BeNil())
}
