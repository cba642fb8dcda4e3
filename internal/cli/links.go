package cli

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/pod/links"
)

func newLinks(s Streams) *cobra.Command {
	var o links.Completion
	cmd := &cobra.Command{
		Use:   "links",
		Short: "Complete links.json with what only the running pod knows: MAC and PCI addresses, drivers",
		Example: "  linerate links --plan /etc/linerate-static/links.json --network-status " +
			"/etc/podinfo/network-status --output /etc/linerate/links.json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pod.ExplainExit(o.TerminationLog, o.Complete(cmd.Context(), s.Stderr, os.DirFS("/")))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Plan, "plan", "", "links.json as the operator wrote it")
	digestFlag(f, &o.Digest, "plan")
	networkFlags(cmd, &o.Networks, time.Minute)
	f.StringVar(&o.Output, "output", "", "where to write the completed links.json")
	terminationFlag(cmd, &o.TerminationLog, "for what went wrong")
	_ = cmd.MarkFlagRequired("plan")
	_ = cmd.MarkFlagRequired("output")
	return cmd
}

func newPorts(s Streams) *cobra.Command {
	var o links.Ports
	cmd := &cobra.Command{
		Use: "ports",
		Short: "Report which physical ports are behind a pod's interfaces: virtual functions of one port share its " +
			"bandwidth",
		Example: "  linerate ports --links west=lab/sriov-west,east=lab/sriov-east --network-status " +
			"/etc/podinfo/network-status",
		Long: "Prints the ports as JSON, and writes them to the container's termination message, where the operator " +
			"reads them. A port that can't be\n" +
			"found is left out, and is no error.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.Report(cmd.Context(), s.Stdout, s.Stderr, os.DirFS("/"))
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.Links, "links", nil, "the links as NAME=NETWORK, or NAME alone: the interface's name, "+
		"separated by commas")
	networkFlags(cmd, &o.Networks, 30*time.Second)
	terminationFlag(cmd, &o.TerminationLog, "that gets the ports")
	_ = cmd.MarkFlagRequired("links")
	return cmd
}
