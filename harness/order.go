package harness

import (
	"hash/fnv"
	"iter"
	"math/rand/v2"
)

// ChildSeed mixes the seed of a campaign with the scenario, the run and the
// child. The arm is not in it, so that arms share inputs and delay plans.
//
// The mix is a chain: h = mix(seed), then for each of FNV-1a 64 of the
// scenario's name, run and child: h = mix(h xor it), where mix adds
// 0x9e3779b97f4a7c15 and applies the finaliser of SplitMix64 (Steele, Lea and
// Flood, OOPSLA 2014). It never changes: recorded children are replayed by it.
func ChildSeed(seed uint64, scenario string, run, child int) uint64 {
	h := mix(seed)
	for _, part := range [...]uint64{nameHash(scenario), uint64(run), uint64(child)} {
		h = mix(h ^ part)
	}
	return h
}

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func nameHash(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails, see hash.Hash
	return h.Sum64()
}

// order yields the children of a plan in the order in which they start:
// scenario after scenario, run after run, child after child, and each child in
// all arms, one after the other in random order. So whatever drifts meanwhile
// (clocks, temperature, other work on the machine) meets all arms alike, and
// arms stopped early differ by one child at most.
//
// The order comes from a stream of the seed that no child uses.
func (p Plan) order() iter.Seq2[int, Key] {
	return func(yield func(scenario int, k Key) bool) {
		for i, s := range p.Scenarios {
			rng := rand.New(rand.NewPCG(mix(p.Seed), nameHash("order of arms of "+s.Name)))
			for run := 1; run <= p.Runs; run++ {
				for child := 1; child <= p.Children; child++ {
					for _, arm := range rng.Perm(len(s.Arms)) {
						if !yield(i, Key{s.Name, s.Arms[arm].Name, run, child}) {
							return
						}
					}
				}
			}
		}
	}
}
