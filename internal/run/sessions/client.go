package sessions

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// client drives the one end of a test whose device is a server that isn't linerate's. With TCP one test goes on as long
// as the procedure. With UDP each step is a test of its own, as the server reports what came at a test's end alone:
//
//	TCP   ├────────────── one test ──────────────┤     windows: what came, and what was confirmed
//	UDP   ├── settle, judge ──┤├──── judge ──────┤     windows: what came, and the server's report
type client struct {
	journal   *runner.Journal
	remotes   *remotes
	connector *connector
	patience  time.Duration // for somebody else's use of the server
	stands    bool          // a test stands
	proven    bool          // the path is in the Report
}

// The time for which a test waits while somebody else uses the server, and how often it asks.
const (
	serverPatience = 2 * time.Minute
	askServerEvery = 2 * time.Second
)

// reportsAtEnd says that windows need what the server reports at a test's end.
func reportsAtEnd(p *plan.Plan) bool { return p.DUT.Server != nil && p.Sessions.Protocol == plan.UDP }

// serverText is the server in sentences.
func serverText(s *plan.Server) string {
	name := "the iperf3 server at "
	if s.Application == plan.ApplicationIperf2 {
		name = "the iperf 2 server at "
	}
	return name + s.Address
}

// start begins a test for a step, unless one stands that goes on.
func (c *client) start(ctx context.Context, step procedure.Step) (began bool, err error) {
	if c.stands {
		return false, nil
	}
	c.journal.Driving = true
	p := c.journal.Plan
	q := testRequest{Shape: c.connector.shape(), Server: p.DUT.Server.Address}
	q.Application, q.Datagrams = p.DUT.Server.Application, p.Sessions.Protocol == plan.UDP
	switch {
	case !q.Datagrams:
	case q.Application == plan.ApplicationIperf2: // whose server sends for that long
		q.Lasts = step.Settle + step.Judge + iperf2Margin
	default:
		q.Lasts = step.Settle + step.Judge + iperf3Margin
	}
	for _, d := range p.Directions {
		q.Sends, q.Receives = q.Sends || d.To == plan.DeviceEnd, q.Receives || d.From == plan.DeviceEnd
	}
	opened, err := c.ask(ctx, q)
	if err != nil {
		return false, err
	}
	c.stands = true
	if !c.proven {
		c.proven = true
		c.report(opened)
	}
	return true, nil
}

// How much longer than a step a test may last, which the client ends itself.
const (
	iperf2Margin = 200 * time.Millisecond
	iperf3Margin = 2 * time.Second
)

// ask opens a test's streams. While somebody else uses the server, it waits.
func (c *client) ask(ctx context.Context, q testRequest) (*Opened, error) {
	began := time.Now()
	if !c.proven {
		c.journal.Enter(runner.Proving, "connect to "+serverText(c.journal.Plan.DUT.Server))
	}
	for {
		a, err := c.remotes.askLong(ctx, 0, request{Verb: doTest, Test: &q})
		waited := time.Since(began)
		switch {
		case err == nil && a.Opened == nil:
			return nil, fmt.Errorf("%w: it doesn't describe its connections", engine.ErrIncompatible)
		case err == nil:
			return a.Opened, nil
		case !errors.Is(err, errServerBusy) || ctx.Err() != nil:
			return nil, c.explain(ctx, err)
		case waited > c.patience:
			return nil, runner.Explain(fmt.Errorf("%s ran somebody else's tests for %s: wait for their end, or start a second "+
				"server there on a port of its own (iperf3 -s -p 5202)", serverText(c.journal.Plan.DUT.Server),
				waited.Round(time.Second)), report.Cause{Detail: report.ServerBusy, Address: q.Server,
				Lasted: plan.Duration(waited.Round(time.Second))})
		}
		c.journal.Update(func(p *runner.Progress) {
			p.Message = fmt.Sprintf("%s runs another test: waiting for its end for up to %s",
				serverText(c.journal.Plan.DUT.Server), (c.patience - waited).Round(time.Second))
		})
		if err := bounded.Pause(ctx, askServerEvery); err != nil {
			return nil, err
		}
	}
}

// explain is the error of a test that didn't begin. Where no answer came through the path, the path isn't proven.
func (c *client) explain(ctx context.Context, err error) error {
	p := c.journal.Plan
	if !fromPath(err) || ctx.Err() != nil || errors.Is(err, engine.ErrLost) || errors.Is(err, engine.ErrSilent) {
		return fmt.Errorf("%s: %w", c.remotes.places[0], err)
	}
	d := p.Directions[0]
	check := report.PathCheck{From: d.From, To: d.To, Sent: p.Sessions.Parallel, Message: err.Error(),
		Fault: &report.Cause{Detail: report.EndpointSilent, Link: c.remotes.places[0].Link, Direction: d.Name()}}
	if address, parseErr := netip.ParseAddrPort(p.DUT.Server.Address); parseErr == nil {
		check.Fault.Port = address.Port()
	}
	c.journal.Report.Path = append(c.journal.Report.Path, check)
	return &runner.PathError{Check: check}
}

// report adds the path to the Report. Nobody at the server's end says by which way connections came, so what proves the
// path is that the server answered to what left by the link.
func (c *client) report(o *Opened) {
	p := c.journal.Plan
	for _, d := range p.Directions {
		n := p.Sessions.Parallel
		check := report.PathCheck{From: d.From, To: d.To, Sent: n, Received: n, Proven: true}
		what := "send"
		if d.From == plan.DeviceEnd {
			what = "receive"
		}
		check.Message = fmt.Sprintf("%s answered; %d connections from %s (%s) %s", serverText(p.DUT.Server), n, o.Local,
			o.Route, what)
		if d.To == plan.DeviceEnd {
			check.Message += "; " + o.carries()
			c.connector.reportCongestionControl(d.From, o.CongestionControl)
		}
		c.journal.Report.Path = append(c.journal.Report.Path, check)
	}
	c.journal.Note("%s is the device's end; the test ends with the runner, %s after its last request",
		serverText(p.DUT.Server), DriverSilence)
}

// finish ends the test that stands, and returns what the server reports of it.
func (c *client) finish(ctx context.Context) (*Counted, error) {
	if !c.stands {
		return nil, nil
	}
	c.stands = false
	a, err := c.remotes.ends[0].ask(ctx, answerTimeout+finishTimeout, request{Verb: doFinish})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.remotes.places[0], err)
	}
	if a.Counted == nil {
		return nil, fmt.Errorf("%w: it doesn't report what the server counted", engine.ErrIncompatible)
	}
	return a.Counted, a.Counted.check(c.journal.Plan.Sessions.Parallel)
}

// note adds to the Report what the server reports of the whole test, which it alone knows.
func (c *client) note(counted *Counted) {
	retransmits, known := int64(0), len(counted.Received) > 0
	for _, s := range counted.Received {
		if known = known && s.Retransmits != nil; known {
			retransmits += *s.Retransmits
		}
	}
	if known && c.journal.Plan.Sessions.Protocol == plan.TCP {
		c.journal.Note("%s reports %d segments that it sent again in the whole test, warm-up too",
			serverText(c.journal.Plan.DUT.Server), retransmits)
	}
}

// check refuses a report of more streams than the test has.
func (c *Counted) check(parallel int) error {
	if most := max(len(c.Sent), len(c.Received), len(c.Sending.Datagrams), len(c.Sending.Each)); most > parallel {
		return fmt.Errorf("%w: it tells of %d streams, and the test has %d connections", engine.ErrLost, most, parallel)
	}
	return nil
}

// span are the edges of what the end sent, and what the server reports that came of it, in a whole test.
func (c *Counted) span() (sending []measure.Sending, receiving []measure.Receiving) {
	n := len(c.Sent)
	last := measure.Receiving{Connections: n}
	for _, s := range c.Sent {
		last.At, last.Jitter = max(last.At, s.Lasted), max(last.Jitter, s.Jitter)
		last.Bytes, last.Each = last.Bytes+s.Bytes, append(last.Each, s.Bytes)
		last.Streams = append(last.Streams, measure.Arrivals{Highest: s.Datagrams, Distinct: s.Datagrams - s.Missing})
	}
	return []measure.Sending{{Connections: n, Datagrams: make([]int64, n), Each: make([]measure.ConnectionSending, n)},
			c.Sending}, []measure.Receiving{{Connections: n, Streams: make([]measure.Arrivals, n),
			Each: make([]int64, n)}, last}
}

// atServer is what one direction had sent and received by a reading of the link's end. What a server received of TCP is
// what its kernel confirmed. What it sent of UDP is known by the numbers of what came. What it received of UDP isn't
// known before the test's end, and nil.
func atServer(reading Reading, d plan.Direction, messageBytes int64) (*measure.Sending, *measure.Receiving) {
	s, r := reading.Sending, reading.Receiving
	switch {
	case d.To == plan.DeviceEnd && s != nil && s.Datagrams == nil:
		received := &measure.Receiving{At: s.At, Connections: s.Connections, Bytes: s.AcknowledgedBytes}
		for _, each := range s.Each {
			received.Each = append(received.Each, each.AcknowledgedBytes)
		}
		return s, received
	case d.To == plan.DeviceEnd:
		return s, nil
	case r == nil:
		return nil, nil
	}
	sent := &measure.Sending{At: r.At, Connections: r.Connections, Each: make([]measure.ConnectionSending, len(r.Each))}
	for i, stream := range r.Streams {
		sent.Datagrams = append(sent.Datagrams, stream.Highest)
		sent.WrittenBytes += stream.Highest * messageBytes
		if i < len(sent.Each) {
			sent.Each[i].SentBytes = stream.Highest * messageBytes
		}
	}
	sent.SentBytes = sent.WrittenBytes
	return sent, r
}

// networkToServer is what the end of a link needs to reach a server: an address, and where the server isn't on the link
// a route by the device's address there. Offloads stay as they are, as with any client of the server's.
func (a addressing) networkToServer(place Place) (Network, error) {
	address, err := a.address(place.Link)
	server, parseErr := netip.ParseAddrPort(a.plan.DUT.Server.Address)
	if err = errors.Join(err, parseErr); err != nil {
		return Network{}, err
	}
	n := Network{Address: address, AsItIs: true}
	if address.Contains(server.Addr()) {
		return n, nil
	}
	via := a.device(place.Link)
	if !via.IsValid() {
		return n, fmt.Errorf("link %s: %s is not in %s: set dut.address of the link to the next hop", place.Link,
			server.Addr(), address.Masked())
	}
	i := slices.IndexFunc(a.plan.Links, func(l plan.Link) bool { return l.Name == place.Link })
	if mac := a.plan.Links[i].DUT.MAC; mac != "" {
		n.Neighbours = append(n.Neighbours, Neighbour{Address: via, MAC: mac})
	}
	n.Routes = append(n.Routes, Route{Destination: netip.PrefixFrom(server.Addr(), server.Addr().BitLen()), Via: via})
	return n, nil
}
