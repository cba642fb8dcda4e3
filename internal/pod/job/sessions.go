package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/run/sessions"
)

// reachedEnds are the pods that are the ends of a Plan's links, as the operator found them.
type reachedEnds []endAt

// endAt is one link's end.
type endAt struct {
	site  plan.Site
	place sessions.Place
}

// reachSessions looks up where the ends are, and waits until each end answers, since a ready pod may become
// reachable only a moment later.
func reachSessions(ctx context.Context, j runnerJob, patience time.Duration) (reachable, error) {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var ends reachedEnds
	var errs []error
	for _, g := range j.plan.Generators {
		site, err := j.siteOf(g)
		if err == nil {
			err = awaitEnd(bounded, site.RPC)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("generator %s: %w", g.Name, err))
			continue
		}
		for _, port := range g.Ports {
			ends = append(ends, endAt{site, sessions.Place{Link: port.Link, Server: site.RPC,
				DUTMAC: site.NextHopMAC[port.Link]}})
		}
	}
	if address := j.sites.DeviceEnd; j.plan.DUT.HasOurEnd() {
		if err := awaitEnd(bounded, address); err != nil {
			errs = append(errs, fmt.Errorf("the device's own end: %w", err))
		}
		ends = append(ends, endAt{place: sessions.Place{Link: plan.DeviceEnd, Server: address}})
	}
	return ends, errors.Join(errs...)
}

// reachNoEnds refuses ends that run already, which the operator compiles no test of.
func reachNoEnds(context.Context, runnerJob, time.Duration) (reachable, error) {
	return reachedEnds{}, fmt.Errorf("%w: in a cluster the ends of sessions are pods", engine.ErrIncompatible)
}

func awaitEnd(ctx context.Context, server string) error {
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "tcp", server)
		if err == nil {
			return conn.Close()
		}
		if bounded.Pause(ctx, dialPause) != nil {
			return fmt.Errorf("%w: %w", engine.ErrLost, err)
		}
	}
}

// driver makes the driver of these ends.
func (ends reachedEnds) driver(j runnerJob) runner.Driver {
	var places []sessions.Place
	for _, e := range ends {
		places = append(places, e.place)
	}
	return sessions.New(places, sessions.Options{Force: j.force, Key: j.sites.Key, Whereabouts: j.whereabouts()})
}

func (reachedEnds) warnings() []string { return nil }

// keepAlive has nothing to do, as the driver's own requests keep the ends from stopping.
func (reachedEnds) keepAlive(context.Context, time.Time, *slog.Logger, context.CancelCauseFunc) func() []report.Note {
	return func() []report.Note { return nil }
}

// describe adds to the Report where the ends ran.
func (ends reachedEnds) describe(r *report.Report) {
	for i := range r.Generators {
		entry := &r.Generators[i]
		end := slices.IndexFunc(ends, func(e endAt) bool { return e.site.Generator == entry.Name })
		if end < 0 {
			continue
		}
		entry.Pod, entry.Node, entry.Containers = ends[end].site.Pod, ends[end].site.Node, ends[end].site.Containers
		for p := range entry.Ports {
			entry.Ports[p].PhysicalPort = ends[end].site.PhysicalPort[entry.Ports[p].Link]
		}
	}
}

func (reachedEnds) disconnect() {}
