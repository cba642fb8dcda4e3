package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/pod/launch"
)

// newRPCProbe makes the verb probe below a generator's verb, for the server of TRex's RPC there.
func newRPCProbe(s Streams, verb, server string) *cobra.Command {
	var address string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:     "probe",
		Short:   "Ask " + server + "'s RPC whether it answers: for startup and liveness probes",
		Example: "  linerate " + verb + " probe --timeout 5s",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// The requests are no heartbeats (get_version, api_sync_v2), so that a probe doesn't keep a lost runner's
			// traffic alive.
			version, err := launch.Probe(cmd.Context(), address, timeout, trex.Options{})
			if errors.Is(err, credential.ErrAsked) { // a probe has no key, but the server answered
				fmt.Fprintln(s.Stdout, "it answers who has its key")
				return nil
			}
			if err != nil {
				return exit.NotMeasured("%w", err)
			}
			fmt.Fprintln(s.Stdout, version)
			return nil
		},
	}
	cmd.Flags().StringVar(&address, "rpc", "127.0.0.1:"+trex.DefaultPort, "address of "+server+"'s RPC")
	cmd.Flags().DurationVar(&timeout, "timeout", 3*time.Second, "how long to wait for the answer")
	return cmd
}
