package cli

import (
	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/lab"
)

// newLabHost is the child process of a run on this machine; people have no use for it.
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

// newLabTunnel is a gateway of a run whose device is a tunnel; people have no use for it.
func newLabTunnel() *cobra.Command {
	return &cobra.Command{
		Use:    lab.TunnelVerb,
		Short:  "Be a gateway of a tunnel in a run (for linerate's own use)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(cmd *cobra.Command, _ []string) error { return lab.TunnelMain(cmd.Context()) },
	}
}
