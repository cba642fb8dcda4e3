package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/pod/job"
)

func newRunner(s Streams) *cobra.Command {
	o := job.Options{Version: version}
	var terminationLog string
	cmd := &cobra.Command{
		Use:   "runner",
		Short: "Measure a LoadTest's Plan in a cluster, and write Progress and Report to their ConfigMaps",
		Example: "  linerate runner --plan /etc/linerate/plan --namespace linerate-system --progress " +
			"t-5f2ab0c1-1-progress --report t-5f2ab0c1-1-report",
		Long: "The operator's Job runs this: it reads the Plan, drives the generators over their RPC, and writes " +
			"what came of it. If a runner\n" +
			"is lost, the next one takes over, and begins anew.\n\n" +
			"Exit codes: 0 a final Report is in its ConfigMap, whatever it says; 2 the command line or the Plan is " +
			"wrong; 3 anything else:\n" +
			"interrupted (a Report that isn't final was written), another runner has taken over, or the Report could " +
			"not be written.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pod.ExplainExit(terminationLog, job.Run(cmd.Context(), s.Stdout, s.Stderr, o))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Plan, "plan", "", "directory with "+delivery.KeyPlan+" and "+delivery.KeySites+", and "+
		delivery.KeyBaseline+" where there is a baseline")
	f.StringVar(&o.Earlier, "earlier", "", "directory with the "+delivery.KeyProgress+
		" that a lost runner left, where there was one: it says how far the run had come")
	f.StringVar(&o.Namespace, "namespace", "", "namespace of the ConfigMaps")
	f.StringVar(&o.Progress, "progress", "", "ConfigMap for the Progress, which the runner makes if it isn't there")
	f.StringVar(&o.Report, "report", "", "ConfigMap for the Report, likewise")
	f.StringVar(&o.Labels, "labels", "", "labels of the two, beside the role: KEY=VALUE,…")
	f.StringVar(&o.Owner, "owner", "", "ConfigMap that owns the two, so that they are deleted with it: NAME/UID")
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig file for the API server, outside of a pod")
	f.DurationVar(&o.Patience, "patience", time.Minute, "how long generators may take to give their first answer")
	f.DurationVar(&o.Grace, "grace", 25*time.Second, "how long after SIGTERM the Report may still be written")
	f.DurationVar(&o.Insist, "insist", 15*time.Minute,
		"how long to try to write the Report when the API server doesn't answer")
	terminationFlag(cmd, &terminationLog, "for what went wrong")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "log every decision")
	for _, flag := range []string{"plan", "namespace", "progress", "report"} {
		_ = cmd.MarkFlagRequired(flag)
	}
	return cmd
}
