package cli

import (
	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/device/lab"
)

// newLabHost is the hidden verb of the child process that holds a run's namespaces and engine on this machine.
func newLabHost(s Streams) *cobra.Command {
	return &cobra.Command{
		Use:    lab.Verb,
		Short:  "Host the namespaces and the engine of a run (for linerate's own use)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return lab.HostMain(cmd.Context(), openInLab(s.Err))
		},
	}
}

// newLabTunnel is the hidden verb of the process that is one gateway of a tunnel, in a run on this machine.
func newLabTunnel() *cobra.Command {
	return &cobra.Command{
		Use:    lab.TunnelVerb,
		Short:  "Be a gateway of a tunnel in a run (for linerate's own use)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(cmd *cobra.Command, _ []string) error { return lab.TunnelMain(cmd.Context()) },
	}
}
