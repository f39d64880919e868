package main

import "github.com/spf13/cobra"

func (a *app) compareCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "compare SCENARIO...",
		Short: "Run scenarios as they are and with protections removed, and compare",
		Long: `compare runs each scenario in two arms, in random order: protected, the code as it
is, and removed, without the protections the scenario is there to notice (or those
of --without). Both arms get the same seeds. The verdict says whether removal made
a difference, and what chance could have done:

  regression     a protected child failed: exit code 1
  reproduction   every removed run failed, of at least 10
  detection      removed children failed, more than chance explains
  suspicion      removed children failed, too few to tell
  guard          none failed: the scenario guards, it does not reproduce
  inconclusive   not enough was measured, or threads hardly overlapped: exit code 3

All others exit with 0, unless --require asks for more.

` + exitHelp,
		Example: `  stress compare first-gemm
  stress compare first-gemm --without rocblas-bind-lock --require reproduction --format md
  stress compare --resume stress-results/20260304T050607Z-42`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.campaign(cmd.Context(), kindCompare, &s, args)
		},
	}
	s.register(cmd.Flags(), kindCompare)
	return cmd
}
