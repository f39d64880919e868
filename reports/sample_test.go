package reports_test

import (
	"time"

	"rocstress/childproc/wire"
	"rocstress/harness"
)

// sample is a comparison with two signatures, as a user would see it.
func sample() harness.Report {
	p := 4.2e-80
	settings := wire.Settings{Threads: 8, Rounds: 33, Shape: wire.Shape{M: 64, K: 128, N: 64}, Inputs: "mixed", Load: "auto"}
	removed := []string{"rocblas-bind-lock", "rocblas-init-lock"}
	return harness.Report{
		Schema:  harness.ReportSchema,
		Tool:    "v1.2.3",
		Command: []string{"stress", "compare", "first-gemm", "--seed", "7"},
		Started: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
		Dur:     83*time.Second + 456*time.Millisecond,
		Seed:    7,
		Host:    harness.Host{OS: "linux", Arch: "amd64", Cores: 16, Go: "go1.26.0"},
		Device: wire.Device{
			Driver: "hip", Name: "AMD Radeon 8060S", Arch: "gfx1151", Runtime: "7.2.4", BLAS: "5.2.0",
			Libraries: []wire.Library{{Name: "libamdhip64.so.7", Path: "/opt/rocm/lib/libamdhip64.so.7", BuildID: "00ff"}},
		},
		Subject: "the protocol of rocm.Device, not a backend's own binary, on AMD Radeon 8060S (gfx1151), HIP 7.2.4, rocBLAS 5.2.0",
		Plan: harness.Plan{
			Scenarios: []harness.ScenarioPlan{{
				Name:       "first-gemm",
				Arms:       []harness.Arm{{Name: harness.ArmProtected}, {Name: harness.ArmRemoved, Without: removed}},
				Settings:   settings,
				Env:        map[string]string{"MLX_NO_HIPBLASLT": "1"},
				Contention: true,
				Deadline:   120 * time.Second,
			}},
			Runs: 20, Children: 10, Seed: 7, Device: "hip:0", Parallel: 1,
		},
		OutDir:    "stress-results/20260304T050607Z-42",
		Scenarios: []harness.ScenarioReport{comparison(&p, removed)},
	}
}

func comparison(p *float64, removed []string) harness.ScenarioReport {
	return harness.ScenarioReport{
		Name: "first-gemm",
		Arms: []harness.ArmReport{
			{
				Name: harness.ArmProtected, Without: []string{}, Runs: 20, Children: 199, NotMeasured: 1, Planned: 200,
				Outcomes: map[harness.Outcome]int{harness.Pass: 199, harness.NotMeasured: 1},
				Interval: harness.Interval{Low: 0, High: 0.0184, Confidence: 0.95}, DesignEffect: 1,
				Bound:     "0 of 199: the true rate is below 1.5 % with 95 % confidence",
				Contended: 199, Skew: harness.SkewSummary{N: 1592, P50NS: 812, P99NS: 41_200, MaxNS: 1_270_000},
			},
			{
				Name: harness.ArmRemoved, Without: removed, Runs: 20, RunsFailed: 20, Children: 200, ChildrenFailed: 187, Planned: 200,
				Outcomes: map[harness.Outcome]int{harness.Pass: 13, harness.UnwrittenOutput: 120, harness.WrongResult: 67},
				Interval: harness.Interval{Low: 0.892, High: 0.965, Confidence: 0.95}, DesignEffect: 1.31,
				Clustered: harness.Interval{Low: 0.881, High: 0.971, Confidence: 0.95},
				Contended: 198, Skew: harness.SkewSummary{N: 1600, P50NS: 790, P99NS: 39_000, MaxNS: 980_000},
			},
		},
		Verdict: harness.Verdict{
			Kind: harness.Reproduction, P: p,
			Text: "Reproduction: without rocblas-bind-lock, rocblas-init-lock, 187 of 200 children in 20 of 20 runs failed (93.5 %); with nothing removed, 0 of 199. p < 0.000001 by Fisher's exact test, two-sided.",
		},
		Signatures: []harness.Signature{
			{Signature: "unwritten_output: outputs", Outcome: harness.UnwrittenOutput, Count: map[string]int{harness.ArmRemoved: 120}, Example: "thread 3 round 0: 4096 words still hold the poison"},
			{Signature: "wrong_result: outputs", Outcome: harness.WrongResult, Count: map[string]int{harness.ArmRemoved: 67}, Example: "thread 1 round 0: 17 of 4096 differ"},
		},
		Failures: []harness.Failure{
			failure(harness.UnwrittenOutput, 1, 2, "thread 3 round 0: 4096 words still hold the poison\nfirst: [0,0] = 0x7fc0dead\nlast: [63,63] = 0x7fc0dead\n4\n5"),
			failure(harness.WrongResult, 1, 4, "thread 1 round 0: 17 of 4096 differ"),
			failure(harness.UnwrittenOutput, 1, 5, "thread 0 round 1: 4096 words still hold the poison"),
		},
		FailuresN: 187,
	}
}

func failure(o harness.Outcome, run, child int, evidence string) harness.Failure {
	return harness.Failure{
		Arm: harness.ArmRemoved, Run: run, Child: child, Outcome: o, Signature: string(o) + ": outputs", Evidence: evidence,
		Reproduce: "stress replay stress-results/20260304T050607Z-42 --run 1 --child 2 --arm removed",
	}
}

// guardOnSim is a guard on a simulated device, stopped early.
func guardOnSim() harness.Report {
	r := sample()
	r.Device = wire.Device{Driver: "sim", Simulated: true, Name: "simulated", Arch: "gfx1151"}
	r.Subject = "the protocol of rocm.Device, not a backend's own binary, on a simulated device (gfx1151): a model, not hardware"
	r.Stopped = "--max-time 1m0s was used up"
	s := &r.Scenarios[0]
	for i := range s.Arms {
		a := &s.Arms[i]
		a.Runs, a.RunsFailed, a.Children, a.ChildrenFailed, a.Contended, a.NotMeasured = 3, 0, 30, 0, 30, 0
		a.Outcomes = map[harness.Outcome]int{harness.Pass: 30}
		a.Bound, a.DesignEffect = "0 of 30: the true rate is below 9.5 % with 95 % confidence", 1
	}
	s.Verdict = harness.Verdict{Kind: harness.Guard, Text: "Guard: no child failed. This scenario guards against a regression; it does not reproduce the failure."}
	s.Signatures, s.Failures, s.FailuresN = nil, nil, 0
	return r
}
