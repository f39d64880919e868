package team

import (
	"cmp"
	"slices"
	"time"

	"rocstress/childproc/wire"
)

// collect merges what the members hold, after all of them have ended.
func collect(members []*Member) Result {
	res := Result{SkewNS: skews(members), Errs: make([]error, len(members))}
	var spans []span
	for i, m := range members {
		res.Errs[i] = m.err
		if m.first {
			spans = append(spans, span{m.released, m.firstEnd})
		}
		for _, op := range m.ops {
			res.Ops = append(res.Ops, wire.Op{
				Thread: i, Round: op.Round, Route: op.Route, Status: op.Status,
				StartNS: op.Start.Nanoseconds(), EndNS: op.End.Nanoseconds(),
			})
		}
	}
	slices.SortStableFunc(res.Ops, func(x, y wire.Op) int {
		return cmp.Or(cmp.Compare(x.Thread, y.Thread), cmp.Compare(x.Round, y.Round))
	})
	res.Overlap = overlap(spans)
	return res
}

func skews(members []*Member) []int64 {
	first := time.Duration(-1)
	for _, m := range members {
		if !m.passed {
			return nil // all of them pass, or none
		}
		if first < 0 || m.released < first {
			first = m.released
		}
	}
	skew := make([]int64, len(members))
	for i, m := range members {
		skew[i] = (m.released - first).Nanoseconds()
	}
	return skew
}

// span is a closed interval of time.
type span struct{ start, end time.Duration }

// overlap returns the most spans that contain one instant.
func overlap(spans []span) int {
	var starts, ends []time.Duration
	for _, s := range spans {
		starts, ends = append(starts, s.start), append(ends, max(s.start, s.end))
	}
	slices.Sort(starts)
	slices.Sort(ends)
	most, over := 0, 0
	for started, at := range starts {
		for ends[over] < at {
			over++
		}
		most = max(most, started+1-over)
	}
	return most
}
