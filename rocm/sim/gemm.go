package sim

import (
	"math"

	"rocstress/rocm"
)

// gemm is one launched GEMM. It reads its operands when the worker gets to it,
// and stores its result when its device time is over.
type gemm struct {
	rocm.SGEMM
	handle *handle
	bf16   bool // the matrices are of bf16; Alpha is 1 and Beta 0 then
}

// gemmScratch is a worker's private memory for GEMMs, reused.
type gemmScratch struct {
	a, b, c []float32
}

// checkGEMM returns the status with which rocblas_sgemm and rocblas_gemm_ex
// refuse their arguments, or 0. Leading dimensions count rows of the
// column-major operands.
func checkGEMM(g rocm.SGEMM) int {
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
	if err := w.d.checkWorkspace(j.handle); err != nil {
		return err
	}
	mem, multiply := j.device(w)
	if err := checkMapped(mem, g); err != nil {
		return err
	}
	s.c = sized(s.c, g.M*g.N)
	if g.Beta == 0 {
		clear(s.c) // beta 0 does not read C, so a NaN there is no matter
	} else if err := loadMatrix(mem, s.c, g.C, g.M, g.N, g.LDC); err != nil {
		return err
	} else if g.Beta != 1 {
		for i := range s.c {
			s.c[i] *= g.Beta
		}
	}
	if g.K > 0 && g.Alpha != 0 {
		s.a, s.b = sized(s.a, g.M*g.K), sized(s.b, g.K*g.N)
		if err := loadMatrix(mem, s.a, g.A, g.M, g.K, g.LDA); err != nil {
			return err
		}
		if err := loadMatrix(mem, s.b, g.B, g.K, g.N, g.LDB); err != nil {
			return err
		}
		if g.Alpha != 1 {
			for i := range s.b {
				s.b[i] *= g.Alpha
			}
		}
		multiply(s.c, s.a, s.b, g.M, g.N, g.K)
	}
	w.elapse(timeFor(2*uint64(g.M)*uint64(g.N)*uint64(g.K), w.cfg().GEMMRate))
	return storeMatrix(mem, g.C, s.c, g.M, g.N, g.LDC)
}

// device returns what multiplies matrices of the GEMM's type on this device.
func (j *gemm) device(w *worker) (matrixMemory, func(c, a, b []float32, m, n, k int)) {
	switch {
	case !j.bf16:
		return f32Memory{w.mem()}, multiplyAdd
	case onesComplement(w.cfg().Arch):
		return bf16Memory{w.mem()}, multiplyAddOnesComplement
	}
	return bf16Memory{w.mem()}, multiplyAdd
}

// checkMapped looks at every operand before any scratch is sized by it, so a
// nonsense size is an address error and not an exhausted host.
func checkMapped(mem matrixMemory, g *rocm.SGEMM) error {
	if err := mem.mapped(g.C, extent(g.M, g.N, g.LDC), true); err != nil || g.K == 0 || g.Alpha == 0 {
		return err
	}
	if err := mem.mapped(g.A, extent(g.M, g.K, g.LDA), false); err != nil {
		return err
	}
	return mem.mapped(g.B, extent(g.K, g.N, g.LDB), false)
}

// extent returns the elements from the first element of a matrix to its last.
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

// sized returns a slice of n floats with unspecified content, in s if it is
// large enough.
func sized(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}
