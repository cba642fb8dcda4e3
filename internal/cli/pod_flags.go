package cli

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/pod/launch"
)

// terminationFlag adds --termination-log. Its help says what the message holds.
func terminationFlag(cmd *cobra.Command, target *string, words string) {
	cmd.Flags().StringVar(target, "termination-log", pod.TerminationLog, "file "+words)
}

// digestFlag adds --FLAG-digest, the digest of the file that --FLAG names.
func digestFlag(f *pflag.FlagSet, target *string, flag string) {
	f.StringVar(target, flag+"-digest", "", "read --"+flag+
		" only if this is its digest, as sha256:HEX, so that nobody replaced it since (none: whatever it is)")
}

// networkFlags adds --network-status and --wait, by which a pod learns from Multus which interfaces it has.
func networkFlags(cmd *cobra.Command, target *launch.NetworkStatus, wait time.Duration) {
	f := cmd.Flags()
	f.StringVar(&target.File, "network-status", "/etc/podinfo/network-status", "downward-API file of the annotation "+
		launch.NetworkStatusAnnotation)
	f.DurationVar(&target.Wait, "wait", wait, "how long to wait for --network-status to be filled")
}
