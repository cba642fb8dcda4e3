package cli

import (
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/pod/reference"
)

func newForwarder(s Streams) *cobra.Command {
	var o reference.Options
	var terminationLog string
	cmd := &cobra.Command{
		Use:     "forwarder",
		Short:   "Make this network namespace's kernel forward: the Reference device under test",
		Example: "  linerate forwarder --spec /etc/linerate-static/forwarder.json",
		Long: "Sets up addresses, routes or bridges, and limits as the file says, and then waits: the kernel " +
			"forwards. It needs CAP_NET_ADMIN, and\n" +
			"for IPv6 a /proc/sys that it may write or that forwards already. With --vitals it also serves vital " +
			"signs of this machine, and what its limit\n" +
			"counted, at that address, but not to clients on its links (see linerate vitals). With --reset it " +
			"forgets what it learned\n" +
			"when a client asks for a reset (see linerate reset). The gateways of a tunnel recognize each other by " +
			"the\n" +
			"token in the variable " + plan.TunnelTokenVariable + "; each is set up once it has reached the other one.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pod.ExplainExit(terminationLog, reference.Run(cmd.Context(), s.Stderr, o))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Spec, "spec", "", "file that says what to forward between which interfaces, as JSON")
	digestFlag(f, &o.Digest, "spec")
	vitalsFlag(cmd, &o.Vitals, "no one")
	verifierFlag(f, &o.Verifier)
	f.BoolVar(&o.Reset, "reset", false, "with --vitals and --verifier: let clients reset the device")
	f.DurationVar(&o.Wait, "wait", 10*time.Second, "how long to wait until the interfaces exist")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "name each setting that could not be made")
	terminationFlag(cmd, &terminationLog, "for what went wrong")
	_ = cmd.MarkFlagRequired("spec")
	cmd.AddCommand(newProbe(s, "Ask whether the forwarder of this network namespace is set up: for startup probes",
		"linerate forwarder probe", reference.Ready, "it forwards",
		"the forwarder is not set up, or not here"))
	return cmd
}

// newProbe makes a verb that succeeds where a process listens on an abstract socket of this network namespace.
func newProbe(s Streams, short, example, socket, success, failure string) *cobra.Command {
	return &cobra.Command{
		Use:     "probe",
		Short:   short,
		Example: "  " + example,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			conn, err := (&net.Dialer{Timeout: 3 * time.Second}).DialContext(cmd.Context(), "unix", socket)
			if err != nil {
				return exit.NotMeasured("%s: %w", failure, err)
			}
			fmt.Fprintln(s.Stdout, success)
			return conn.Close()
		},
	}
}
