package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/collect"
	"github.com/linerate-dev/linerate/internal/exit"
	"github.com/linerate-dev/linerate/internal/observe"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/vitals"
)

// collectToken is the variable that the token stands in, by which a collector knows its test's runner.
const collectToken = plan.CollectorTokenVariable

func newCollect(s Streams) *cobra.Command {
	var address, observers, credentials, terminationLog string
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "Ask others over the network for a test's observers, and tell the runner what they answered",
		Example: "  " + collectToken + "=secret linerate collect --vitals 192.0.2.7 --credentials /etc/linerate/credentials --observers '[{\"name\": \"power\", ...}]'\n" +
			"  curl -H 'Authorization: Bearer secret' http://192.0.2.7:4504/vitals",
		Long: "Asks a Prometheus server, an SNMP agent or a management controller (Redfish) at each observer's own period, with the credentials that are in\n" +
			"files of the folder --credentials: SECRET/username, SECRET/password, SECRET/token, SECRET/community, SECRET/ca.crt, and of SNMP's version 3\n" +
			"SECRET/authPassword, SECRET/privPassword, SECRET/authProtocol, SECRET/privProtocol. Who asks for the answers shows the token of the variable " + collectToken + "; credentials are told to nobody but whom they are for. It needs no rights.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withTermination(terminationLog, collectFor(cmd.Context(), s, address, observers, credentials))
		},
	}
	vitalsFlag(cmd, &address, "nobody")
	cmd.Flags().StringVar(&observers, "observers", "", "the Plan's observers that ask somebody, as JSON")
	credentialsFlag(cmd, &credentials)
	terminationFlag(cmd, &terminationLog, "for what went wrong")
	_ = cmd.MarkFlagRequired("vitals")
	_ = cmd.MarkFlagRequired("observers")
	return cmd
}

// credentialsFlag adds --credentials.
func credentialsFlag(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVar(into, "credentials", "", "folder with the credentials of observers that ask somebody over the network, as a cluster mounts Secrets: FOLDER/SECRETNAME/password")
}

func collectFor(ctx context.Context, s Streams, address, observers, credentials string) error {
	var all []plan.Observer
	if err := json.Unmarshal([]byte(observers), &all); err != nil {
		return exit.BadInput("--observers: %w", err)
	}
	if i := slices.IndexFunc(all, func(o plan.Observer) bool { return !o.Asks() || o.Every <= 0 }); i >= 0 {
		return exit.BadInput("--observers: %s asks nobody over the network, or says not how often: leave it out", all[i].Name)
	}
	token := os.Getenv(collectToken)
	if token == "" {
		return exit.BadInput("%s is not set: without a token anybody on the pods' network could read what was answered", collectToken)
	}
	l, err := listenVitals(ctx, address, nil)
	if err != nil {
		return err
	}
	collector := collect.Start(ctx, all, collect.Folder(credentials))
	defer collector.Close()
	fmt.Fprintf(s.Err, "what %d observers are answered is told at %s\n", len(all), l.Addr())
	return serveVitals(ctx, l, &vitals.Server{Collect: collector.Answers, Token: token})
}

// collectHere asks for a Plan's observers from this process, which a lab on this machine is measured by. The observers are told nothing where nobody has to be asked.
func collectHere(ctx context.Context, p *plan.Plan, credentials string) (told func() observe.Collected, leave func()) {
	asking := p.Asking()
	if len(asking) == 0 {
		return nil, func() {}
	}
	c := collect.Start(ctx, asking, collect.Folder(credentials))
	return c.Newest, c.Close
}

// collectorPod is the pod that asks for a test's observers, as the runner hears of it.
type collectorPod struct {
	asked    bool   // an observer wants it
	missing  string // why nobody asks
	follower *vitals.Follower
}

// askCollector begins to hear the collector, where the Plan's observers want one.
func (j runnerJob) askCollector(ctx context.Context) collectorPod {
	c := collectorPod{asked: len(j.plan.Asking()) > 0, missing: j.sites.NoCollector}
	if c.missing == "" {
		c.missing = "this test has no collector pod"
	}
	if site := j.sites.Collector; c.asked && site != nil {
		c.follower = vitals.FollowWith(ctx, site.Address, site.Token, nil)
	}
	return c
}

// told is what it told last, and returns at once; nil: nobody is to be asked.
func (c collectorPod) told() func() observe.Collected {
	if !c.asked {
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

// leave ends the hearing.
func (c collectorPod) leave() {
	if c.follower != nil {
		c.follower.Close()
	}
}
