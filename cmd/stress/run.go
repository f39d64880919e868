package main

import "github.com/spf13/cobra"

func (a *app) runCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "run SCENARIO...",
		Short: "Run scenarios under one configuration",
		Long: `run starts --runs x --children fresh processes of each scenario and says what they
came to: exit code 1 if any child failed, with or without --without.

` + exitHelp,
		Example: `  stress run first-gemm --runs 100
  stress run first-gemm --without rocblas-bind-lock --expect-failures
  stress run --resume stress-results/20260304T050607Z-42`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.campaign(cmd.Context(), kindRun, &s, args)
		},
	}
	s.register(cmd.Flags(), kindRun)
	return cmd
}
