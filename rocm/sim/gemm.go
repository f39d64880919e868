package sim

import (
	"math"

	"rocstress/rocm"
)

// gemm is one launched SGEMM. It reads its operands when the worker gets to it,
// and stores its result when its device time is over.
type gemm struct {
	rocm.SGEMM
}

// gemmScratch is a worker's private memory for GEMMs, reused.
type gemmScratch struct {
	a, b, c []float32
}

// checkSGEMM returns the status with which rocblas_sgemm refuses its
// arguments, or 0. Leading dimensions count rows of the column-major operands.
func checkSGEMM(g rocm.SGEMM) int {
	switch {
	case g.M < 0 || g.N < 0 || g.K < 0,
		max(g.M, g.N, g.K, g.LDA, g.LDB, g.LDC) > math.MaxInt32, // rocblas_int
		g.LDA < max(1, g.M) || g.LDB < max(1, g.K) || g.LDC < max(1, g.M):
		return rocm.RocBLASInvalidSize
	case g.M == 0 || g.N == 0:
		return 0
	case g.C == 0, g.K > 0 && (g.A == 0 || g.B == 0):
		return rocm.RocBLASInvalidPointer
	}
	return 0
}

func (j *gemm) run(w *worker) error {
	g, s := &j.SGEMM, &w.gemm
	if err := checkMapped(w, g); err != nil {
		return err
	}
	s.c = sized(s.c, g.M*g.N)
	if g.Beta == 0 {
		clear(s.c) // beta 0 does not read C, so a NaN there is no matter
	} else if err := loadMatrix(w, s.c, g.C, g.M, g.N, g.LDC); err != nil {
		return err
	} else if g.Beta != 1 {
		for i := range s.c {
			s.c[i] *= g.Beta
		}
	}
	if g.K > 0 && g.Alpha != 0 {
		s.a, s.b = sized(s.a, g.M*g.K), sized(s.b, g.K*g.N)
		if err := loadMatrix(w, s.a, g.A, g.M, g.K, g.LDA); err != nil {
			return err
		}
		if err := loadMatrix(w, s.b, g.B, g.K, g.N, g.LDB); err != nil {
			return err
		}
		if g.Alpha != 1 {
			for i := range s.b {
				s.b[i] *= g.Alpha
			}
		}
		multiplyAdd(s.c, s.a, s.b, g.M, g.N, g.K)
	}
	w.elapse(timeFor(2*uint64(g.M)*uint64(g.N)*uint64(g.K), w.cfg().GEMMRate))
	return storeMatrix(w, g.C, s.c, g.M, g.N, g.LDC)
}

// checkMapped looks at every operand before any scratch is sized by it, so a
// nonsense size is an address error and not an exhausted host.
func checkMapped(w *worker, g *rocm.SGEMM) error {
	if err := w.mem().mapped(g.C, extent(g.M, g.N, g.LDC), true); err != nil || g.K == 0 || g.Alpha == 0 {
		return err
	}
	if err := w.mem().mapped(g.A, extent(g.M, g.K, g.LDA), false); err != nil {
		return err
	}
	return w.mem().mapped(g.B, extent(g.K, g.N, g.LDB), false)
}

// extent returns the words from the first element of a matrix to its last.
func extent(rows, cols, ld int) uint64 {
	return uint64(cols-1)*uint64(ld) + uint64(rows)
}

// multiplyAdd adds A B to C, all column-major and dense. Four columns of A at
// a time halve the traffic to C. Sums of small integers are exact in any order.
func multiplyAdd(c, a, b []float32, m, n, k int) {
	for j := range n {
		cj, bj := c[j*m:(j+1)*m], b[j*k:(j+1)*k]
		p := 0
		for ; p+4 <= k; p += 4 {
			b0, b1, b2, b3 := bj[p], bj[p+1], bj[p+2], bj[p+3]
			a0, a1 := a[p*m:][:len(cj)], a[(p+1)*m:][:len(cj)]
			a2, a3 := a[(p+2)*m:][:len(cj)], a[(p+3)*m:][:len(cj)]
			for i := range cj {
				cj[i] += a0[i]*b0 + a1[i]*b1 + (a2[i]*b2 + a3[i]*b3)
			}
		}
		for ; p < k; p++ {
			ap, bp := a[p*m:][:len(cj)], bj[p]
			for i := range cj {
				cj[i] += ap[i] * bp
			}
		}
	}
}

// loadMatrix reads a column-major matrix into dense scratch.
func loadMatrix(w *worker, dst []float32, src rocm.Ptr, rows, cols, ld int) error {
	if ld == rows {
		return w.mem().loadFloats(dst, src)
	}
	for j := range cols {
		at := src + rocm.Ptr(j)*rocm.Ptr(ld)*wordBytes
		if err := w.mem().loadFloats(dst[j*rows:(j+1)*rows], at); err != nil {
			return err
		}
	}
	return nil
}

// storeMatrix writes dense scratch to a column-major matrix.
func storeMatrix(w *worker, dst rocm.Ptr, src []float32, rows, cols, ld int) error {
	if ld == rows {
		return w.mem().storeFloats(dst, src)
	}
	for j := range cols {
		at := dst + rocm.Ptr(j)*rocm.Ptr(ld)*wordBytes
		if err := w.mem().storeFloats(at, src[j*rows:(j+1)*rows]); err != nil {
			return err
		}
	}
	return nil
}

// sized returns a slice of n floats with unspecified content, in s if it is
// large enough.
func sized(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}
