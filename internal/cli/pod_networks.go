package cli

import (
	"context"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/pod/launch"
)

// podNetworks is where a pod's verbs learn from Multus which interfaces the pod was given.
type podNetworks struct {
	status string
	wait   time.Duration
}

// flags adds --network-status and --wait.
func (p *podNetworks) flags(cmd *cobra.Command, wait time.Duration) {
	f := cmd.Flags()
	f.StringVar(&p.status, "network-status", "/etc/podinfo/network-status", "downward-API file of the annotation "+launch.NetworkStatusAnnotation)
	f.DurationVar(&p.wait, "wait", wait, "how long to wait for --network-status to be filled")
}

// read waits until Multus has written the annotation.
func (p podNetworks) read(ctx context.Context, root fs.FS) ([]launch.Network, error) {
	return launch.AwaitNetworks(ctx, root, p.status, p.wait)
}
