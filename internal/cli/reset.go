package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

func newReset(s Streams) *cobra.Command {
	var o vitals.Resets
	var terminationLog string
	cmd := &cobra.Command{
		Use:     "reset [flags] -- COMMAND [ARGUMENT...]",
		Short:   "Serve resets of the device in this pod: run a command each time that a test's runner asks",
		Example: "  linerate reset --at 192.0.2.7 --verifier VERIFIER --links west,east -- ip neigh flush all",
		Long: "Runs the command on POST /reset, and answers when it has ended: with JSON that says what ran and how " +
			"long it took, or with its last words if it failed.\n" +
			"Whoever asks must prove the key of --verifier, and can't choose the command. Requests that come in by " +
			"the\n" +
			"links aren't answered.",
		Args: func(_ *cobra.Command, command []string) error {
			if len(command) == 0 {
				return exit.BadInput("name the command that resets the device behind --, such as -- ip neigh flush all")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, command []string) error {
			return pod.ExplainExit(terminationLog, vitals.RunResets(cmd.Context(), s.Stderr, o, command))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Address, "at", "", "this pod's address to listen at, with or without a port (default port 4504)")
	f.StringSliceVar(&o.Links, "links", nil, "interfaces under test: requests that come in by them aren't answered")
	f.DurationVar(&o.Timeout, "timeout", 30*time.Second, "how long the command may take")
	terminationFlag(cmd, &terminationLog, "for what went wrong")
	verifierFlag(f, &o.Verifier)
	_ = cmd.MarkFlagRequired("at")
	_ = cmd.MarkFlagRequired("verifier") // else anybody on the pods' network could reset the device
	cmd.AddCommand(newProbe(s, "Ask whether the device of this network namespace can be reset: for startup probes",
		"linerate reset probe", vitals.ResetReady, "it can be reset",
		"the device can't be reset yet, or not from here"))
	return cmd
}
