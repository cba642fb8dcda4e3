package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

func newVitals(s Streams) *cobra.Command {
	var address, terminationLog string
	var verifier credential.Verifier
	cmd := &cobra.Command{
		Use:   "vitals",
		Short: "Serve vital signs of this machine, for observers of a device that runs here",
		Example: "  linerate vitals --vitals 192.0.2.7\n  curl http://192.0.2.7:" + strconv.Itoa(vitals.Port) +
			"/vitals",
		Long: "Answers GET /vitals with JSON, from /proc/stat, which it reads ten times a second at most, and only " +
			"on requests; with\n" +
			"GET /vitals?signs=Memory,SoftIRQs also the named types of vital signs from /proc and /sys. It needs no\n" +
			"rights and changes nothing. Without --verifier it answers whoever calls. Clients whose answers would " +
			"leave by another interface than the one that has the\n" +
			"address get none: they are on a link under test.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pod.ExplainExit(terminationLog, vitals.Run(cmd.Context(), s.Stderr, address, verifier))
		},
	}
	vitalsFlag(cmd, &address, "nobody")
	verifierFlag(cmd.Flags(), &verifier)
	terminationFlag(cmd, &terminationLog, "for what went wrong")
	_ = cmd.MarkFlagRequired("vitals")
	return cmd
}

// vitalsFlag adds --vitals.
func vitalsFlag(cmd *cobra.Command, target *string, nobodyText string) {
	cmd.Flags().StringVar(target, "vitals", "",
		"this machine's address to serve vital signs at, in a network that is no link of the test, such as the pods' "+
			"network; with or without a port (default port "+
			strconv.Itoa(vitals.Port)+"; none: to "+nobodyText+")")
}
