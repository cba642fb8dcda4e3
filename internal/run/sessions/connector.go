package sessions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// connector makes each direction's connections, and proves their path.
type connector struct {
	journal    *runner.Journal
	remotes    *remotes
	addressing addressing

	framesEach map[string]int64 // frames that each datagram takes, by the sender's link; 0 if unknown, or no datagrams
}

// setUpNetworks gives each end its addresses, routes and neighbours.
func (c *connector) setUpNetworks(ctx context.Context) error {
	mac := func(link string) string { return c.remotes.ends[c.remotes.index(link)].welcome.MAC }
	remarks := make([][]string, len(c.remotes.places))
	err := c.remotes.forEach(func(i int) error {
		var network Network
		var err error
		if c.journal.Plan.DUT.Server != nil {
			network, err = c.addressing.networkToServer(c.remotes.places[i])
		} else {
			network, err = c.addressing.network(c.remotes.places[i], mac)
		}
		if err != nil {
			return err
		}
		a, err := c.remotes.ask(ctx, i, request{Verb: doLay, Lay: &network})
		if a.Laid != nil {
			remarks[i] = a.Laid.Remarks
		}
		return err
	})
	for i := range remarks {
		for _, remark := range remarks[i] {
			c.journal.Note("%s: %s", c.remotes.places[i], remark)
		}
	}
	return err
}

// connect makes each direction's connections, and proves their path by the address and interface that they are made
// from, by the kernel's route, and, if the device routes, by the TTL that the device decremented. A direction whose
// path isn't proven ends the run.
func (c *connector) connect(ctx context.Context) error {
	c.journal.Enter(runner.Proving, "connect the ends through the device")
	token := make([]byte, tokenBytes/2)
	if _, err := rand.Read(token); err != nil {
		return fmt.Errorf("make a token: %w", err)
	}
	for _, d := range c.journal.Plan.Directions {
		check, err := c.open(ctx, d, hex.EncodeToString(token))
		if check == nil {
			return err
		}
		c.journal.Report.Path = append(c.journal.Report.Path, *check)
		if !check.Proven {
			return &runner.PathError{Check: *check}
		}
	}
	return nil
}

// open makes one direction's connections. Its check is nil where an end, and not the path, is at fault.
func (c *connector) open(ctx context.Context, d plan.Direction, token string) (*report.PathCheck, error) {
	sender, receiver := c.remotes.index(d.From), c.remotes.index(d.To)
	if sender < 0 || receiver < 0 {
		return nil, fmt.Errorf("direction %s to %s: a link of it has no end", d.From, d.To)
	}
	address, err := c.addressing.address(d.To)
	if err != nil {
		return nil, err
	}
	shape, device := c.shape(), c.journal.Plan.DUT
	listen := request{Verb: doListen, Listen: &listenRequest{Shape: shape, Token: token}}
	if _, err := c.remotes.ask(ctx, receiver, listen); err != nil {
		return nil, err
	}
	check := &report.PathCheck{From: d.From, To: d.To, Sent: shape.Connections}
	connected, err := c.remotes.askLong(ctx, sender, request{Verb: doConnect, Connect: &connectRequest{Shape: shape,
		Token: token, Remote: c.addressing.reached(d.To, address)}})
	if err == nil {
		if connected.Opened != nil {
			c.reportCongestionControl(d.From, connected.Opened.CongestionControl)
			c.framesEach[d.From] = connected.Opened.FramesEach
		}
		var arrived answer
		if arrived, err = c.remotes.askLong(ctx, receiver, request{Verb: doCame}); err == nil {
			prove(check, device, connected.Opened, arrived.Opened)
			return check, nil
		}
	}
	if ctx.Err() != nil || errors.Is(err, engine.ErrLost) || errors.Is(err, engine.ErrSilent) {
		return nil, fmt.Errorf("connect %s to %s: %w", d.From, d.To, err)
	}
	if !fromPath(err) {
		return nil, fmt.Errorf("%s: its end can't connect to %s, and the device isn't the reason: %w",
			c.remotes.places[sender], d.To, err)
	}
	ports := "TCP port"
	if shape.Datagrams {
		ports = "TCP and UDP port"
	}
	check.Message = fmt.Sprintf("%v: check that the device forwards between the links, and %s %d with them", err, ports,
		DataPort)
	check.Fault = &report.Cause{Detail: report.NotConnected, Link: d.From, Direction: d.Name(), Port: DataPort}
	if device.Endpoint() {
		check.Fault.Detail = report.EndpointSilent
		check.Message = fmt.Sprintf("%v: check that the link leads to the device, and that nothing there blocks %s %d",
			err, ports, DataPort)
	}
	return check, nil
}

// reportCongestionControl adds to the Report the congestion control of the connections from a link, which is the
// kernel's own choice where the Plan makes none.
func (c *connector) reportCongestionControl(link, congestionControl string) {
	for g := range c.journal.Report.Generators {
		for p := range c.journal.Report.Generators[g].Ports {
			if port := &c.journal.Report.Generators[g].Ports[p]; port.Link == link {
				port.CongestionControl = congestionControl
			}
		}
	}
}

// shape is the shape of each direction's connections.
func (c *connector) shape() Shape {
	s := c.journal.Plan.Sessions
	shape := Shape{Connections: s.Parallel, WindowBytes: s.WindowBytes, MessageBytes: s.MessageBytes,
		CongestionControl: s.CongestionControl}
	if s.Application != "" {
		shape.Application, shape.Datagrams, shape.Lasts = s.Application, s.Protocol == plan.UDP, sendDuration(c.journal)
		shape.BitsPerSecond = s.BitsPerSecond(c.journal.Plan.Procedure) / int64(max(1, s.Parallel))
	}
	return shape
}
