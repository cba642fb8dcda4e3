package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/exit"
	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/pod/collect"
	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

func newCollect(s Streams) *cobra.Command {
	var address, observers, credentials, terminationLog string
	var verifier credential.Verifier
	cmd := &cobra.Command{
		Use:     "collect",
		Short:   "Read a test's observers from servers on the network, and serve the answers to the runner",
		Example: "  linerate collect --vitals 192.0.2.7 --verifier VERIFIER --credentials /etc/linerate/credentials --observers '[{\"name\": \"power\", ...}]'",
		Long: "Asks a Prometheus server, an SNMP agent or a management controller (Redfish) at each observer's own period, with the credentials that are in\n" +
			"files of the folder --credentials: SECRET/username, SECRET/password, SECRET/token, SECRET/community, SECRET/ca.crt,\n" +
			"SECRET/serverName, SECRET/fingerprint, and of SNMP's version 3\n" +
			"SECRET/authPassword, SECRET/privPassword, SECRET/authProtocol, SECRET/privProtocol. Whoever asks for the answers must prove the key of --verifier; each credential is sent only to the server that it is for. The command needs no rights.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withTermination(terminationLog, runCollector(cmd.Context(), s, address, observers, credentials, verifier))
		},
	}
	vitalsFlag(cmd, &address, "nobody")
	cmd.Flags().StringVar(&observers, "observers", "", "the Plan's observers that read from the network, as JSON")
	credentialsFlag(cmd, &credentials)
	verifierFlag(cmd.Flags(), &verifier)
	terminationFlag(cmd, &terminationLog, "for what went wrong")
	_ = cmd.MarkFlagRequired("vitals")
	_ = cmd.MarkFlagRequired("observers")
	_ = cmd.MarkFlagRequired("verifier") // else anybody on the pods' network could read the answers
	return cmd
}

// credentialsFlag adds --credentials.
func credentialsFlag(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVar(into, "credentials", "", "folder with the credentials of observers that read from the network, as a cluster mounts Secrets: FOLDER/SECRETNAME/password")
}

func runCollector(ctx context.Context, s Streams, address, observers, credentials string, verifier credential.Verifier) error {
	var all []plan.Observer
	if err := intake.JSON([]byte(observers), &all, intake.Small); err != nil {
		return exit.BadInput("--observers: %w", err)
	}
	if i := slices.IndexFunc(all, func(o plan.Observer) bool { return !o.Asks() || o.Every <= 0 }); i >= 0 {
		return exit.BadInput("--observers: %s doesn't read from the network, or has no period: leave it out", all[i].Name)
	}
	l, err := listenVitals(ctx, address, nil)
	if err != nil {
		return err
	}
	collector := collect.Start(ctx, all, collect.Folder(credentials))
	defer collector.Close()
	fmt.Fprintf(s.Err, "serving the answers of %d observers at %s\n", len(all), l.Addr())
	return serveVitals(ctx, l, &vitals.Server{Collect: collector.Answers, Verifier: verifier})
}

// collectInProcess starts a collector in this process, for a run on this machine. latest returns its newest answers, and is nil where no observer reads from the network.
func collectInProcess(ctx context.Context, p *plan.Plan, credentials string) (latest func() observe.Collected, stop func()) {
	asking := p.Asking()
	if len(asking) == 0 {
		return nil, func() {}
	}
	c := collect.Start(ctx, asking, collect.Folder(credentials))
	return c.Newest, c.Close
}

// collectorPod is the pod that reads a test's observers from the network, as the runner's pod follows it.
type collectorPod struct {
	wanted   bool   // an observer reads from the network
	missing  string // why there is no collector to follow
	follower *vitals.Follower
}

// followCollector begins to poll the collector's pod, where the Plan's observers need one.
func (j runnerJob) followCollector(ctx context.Context) collectorPod {
	c := collectorPod{wanted: len(j.plan.Asking()) > 0, missing: j.sites.NoCollector}
	if c.missing == "" {
		c.missing = "this test has no collector pod"
	}
	if c.wanted && j.sites.Collector != "" {
		c.follower = vitals.Follow(ctx, j.sites.Collector, j.sites.Key, nil)
	}
	return c
}

// latest returns the collector's newest answers without waiting; nil where no observer reads from the network.
func (c collectorPod) latest() func() observe.Collected {
	if !c.wanted {
		return nil
	}
	return func() observe.Collected {
		if c.follower == nil {
			return observe.Collected{Missing: c.missing}
		}
		r, age, missing := c.follower.Newest()
		if r.Collected == nil {
			return observe.Collected{Missing: missing}
		}
		return observe.Collected{Age: age, Clock: r.Collected.Clock, Answers: r.Collected.Answers, Missing: missing}
	}
}

// stop ends the polling.
func (c collectorPod) stop() {
	if c.follower != nil {
		c.follower.Close()
	}
}
