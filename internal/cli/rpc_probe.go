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

// newRPCProbe is a generator's verb probe: below a verb, for who answers TRex's RPC there.
func newRPCProbe(s Streams, verb, who string) *cobra.Command {
	var address string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:     "probe",
		Short:   "Ask " + who + "'s RPC whether it answers: for startup and liveness probes",
		Example: "  linerate " + verb + " probe --timeout 5s",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Its requests are those that are no beats (get_version, api_sync_v2): a probe must not keep traffic alive whose runner is gone.
			version, err := launch.Probe(cmd.Context(), address, timeout, trex.Options{})
			if errors.Is(err, credential.ErrAsked) { // a probe has no key, and needs none to see that somebody answers
				fmt.Fprintln(s.Out, "it answers who has its key")
				return nil
			}
			if err != nil {
				return exit.NotMeasured("%w", err)
			}
			fmt.Fprintln(s.Out, version)
			return nil
		},
	}
	cmd.Flags().StringVar(&address, "rpc", "127.0.0.1:"+trex.DefaultPort, "address of "+who+"'s RPC")
	cmd.Flags().DurationVar(&timeout, "timeout", 3*time.Second, "how long to wait for the answer")
	return cmd
}
