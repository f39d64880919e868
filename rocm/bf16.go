package rocm

import (
	"errors"
	"fmt"

	"rocstress/harness/sched"
)

// RocBLASBF16Available reports whether bf16 GEMMs can take rocBLAS: wherever
// f32 ones can.
func (d *Device) RocBLASBF16Available(th *sched.Thread) bool {
	if d.keeps(NoResetProbe) {
		return d.RocBLASAvailable(th)
	}
	return d.probeBF16(th)
}

// probeBF16 is the query as it was before no-reset-probe: flag before work, no
// lock, and a recovery that resets the device under whoever uses it.
func (d *Device) probeBF16(th *sched.Thread) bool {
	if !d.RocBLASAvailable(th) {
		return false
	}
	th.Point(PointProbeRead)
	if d.probe.probed.Load() {
		return d.probe.value.Load()
	}
	d.probe.probed.Store(true)
	th.Point(PointBF16Probe)
	if err := d.runBF16Probe(th); err == nil {
		d.probe.value.Store(true)
		return true
	}
	if err := d.recoverFromProbe(th); err != nil {
		d.warnOnce(fmt.Errorf("recover from a failed bf16 probe: %w", err))
	}
	return false
}

// runBF16Probe multiplies two 16x16 matrices on whatever stream the handle is
// bound to, without a lease.
func (d *Device) runBF16Probe(th *sched.Thread) (err error) {
	const side, words = 16, 16 * 16 / 2
	if err := d.MakeCurrent(th); err != nil {
		return err
	}
	mem, err := d.drv.Malloc(th, 3*words*4)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.drv.Free(th, mem)) }()
	if err := d.drv.MemsetD32Async(th, mem, 0, 3*words, 0); err != nil {
		return err
	}
	err = d.enqueueGEMM(th, BLAS(d.handle.Load()), GEMM{
		Type: BF16, M: side, K: side, N: side, A: mem, B: mem + words*4, C: mem + 2*words*4,
	})
	return errors.Join(err, d.drv.StreamSynchronize(th, 0))
}

// recoverFromProbe resets the device, then destroys the handle and creates
// another. Nobody else is told.
func (d *Device) recoverFromProbe(th *sched.Thread) error {
	r, ok := d.drv.(Resetter)
	if !ok {
		return fmt.Errorf("the %s driver resets no devices", d.drv.Describe(th).Driver)
	}
	th.Point(PointReset)
	if err := r.DeviceReset(th); err != nil {
		return err
	}
	th.Point(PointRecreate)
	if err := d.drv.RocBLASDestroyHandle(th, BLAS(d.handle.Load())); err != nil {
		return err
	}
	d.dropped.Add(1)
	h, err := d.drv.RocBLASCreateHandle(th)
	if err != nil {
		return err
	}
	d.created.Add(1)
	d.handle.Store(uintptr(h))
	return nil
}
