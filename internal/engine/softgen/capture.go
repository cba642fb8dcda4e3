package softgen

import (
	"maps"
	"slices"
)

// A capture keeps at most maxCapture frames, and there are at most maxCaptures captures.
const (
	maxCapture  = 100_000
	maxCaptures = 10
)

// captures are the server's captures, by their ids.
type captures struct {
	ports  ports
	clock  clock
	open   map[uint32]*recording
	lastID uint32
}

// command answers capture, whose "command" chooses one of five operations.
func (c *captures) command(p *params) (any, error) {
	switch p.choice("command", "start", "stop", "fetch", "status", "remove") {
	case "start":
		return c.start(p)
	case "status":
		return c.status()
	case "stop":
		return c.stop(p)
	case "fetch":
		return c.fetch(p)
	case "remove":
		return c.remove(p)
	}
	return nil, p.failed()
}

func (c *captures) start(p *params) (any, error) {
	limit, mode := p.uint32("limit"), p.choice("mode", "fixed", "cyclic")
	transmit, receive := c.readPorts(p, "tx"), c.readPorts(p, "rx")
	text := p.textOr("filter", "")
	if limit == 0 || limit > maxCapture {
		p.fail("'limit' must be 1 to %d", maxCapture)
	}
	if len(transmit)+len(receive) == 0 {
		p.fail("'tx' and 'rx' are both empty: name at least one port")
	}
	if err := p.failed(); err != nil {
		return nil, err
	}
	if p.textOr("endpoint", "") != "" {
		return nil, refused("capturing to an endpoint is not supported by the software engine: fetch the frames")
	}
	if len(c.open) >= maxCaptures {
		return nil, refused("there are %d captures already: remove one", maxCaptures)
	}
	matches, err := parseFilter(text)
	if err != nil {
		return nil, refusedBy(err)
	}
	for _, port := range c.ports {
		if (transmit[port.index] || receive[port.index]) && !port.service {
			return nil, refused("start_capture is available only under service mode (port %d)", port.index)
		}
	}
	r := &recording{limit: int(limit), cyclic: mode == "cyclic", text: text, matches: matches, transmit: transmit,
		receive: receive,
		start:   c.clock()}
	if err := r.begin(c.ports); err != nil {
		return nil, err
	}
	c.lastID++
	c.open[c.lastID] = r
	return object{"capture_id": c.lastID, "start_ts": real(r.start.Seconds())}, nil
}

func (c *captures) readPorts(p *params, name string) map[int]bool {
	ports := map[int]bool{}
	for _, text := range p.list(name) {
		index, negative, whole := wholeNumber(text)
		if !whole || negative || index >= uint64(len(c.ports)) {
			p.fail("'%s': no such port %s", name, text)
			continue
		}
		ports[int(index)] = true
	}
	return ports
}

func (c *captures) status() (any, error) {
	list := []object{}
	for _, id := range slices.Sorted(maps.Keys(c.open)) {
		r := c.open[id]
		frames, bytes, matched := r.size()
		condition, mode := "STOPPED", "fixed"
		if r.active {
			condition = "ACTIVE"
		}
		if r.cyclic {
			mode = "cyclic"
		}
		list = append(list, object{
			"id": id, "state": condition, "mode": mode, "limit": r.limit, "count": frames, "bytes": bytes,
			"matched": matched,
			"filter": object{"tx": orEmpty(slices.Sorted(maps.Keys(r.transmit))),
				"rx": orEmpty(slices.Sorted(maps.Keys(r.receive))), "bpf": r.text},
		})
	}
	return list, nil
}

func (c *captures) named(p *params) (uint32, *recording, error) {
	id := p.uint32("capture_id")
	if err := p.failed(); err != nil {
		return 0, nil, err
	}
	r, ok := c.open[id]
	if !ok {
		return 0, nil, refused("capture ID %d does not exist", id)
	}
	return id, r, nil
}

func (c *captures) stop(p *params) (any, error) {
	_, r, err := c.named(p)
	if err != nil {
		return nil, err
	}
	r.stop()
	frames, _, _ := r.size()
	return object{"endpoint": "", "pkt_count": frames}, nil
}

func (c *captures) fetch(p *params) (any, error) {
	_, r, err := c.named(p)
	if err != nil {
		return nil, err
	}
	limit, snap := p.uint32("pkt_limit"), optional(p, "snaplen", 0, p.uint32)
	if err := p.failed(); err != nil {
		return nil, err
	}
	frames, pending := r.fetch(int(limit))
	list := []object{}
	for _, f := range frames {
		list = append(list, f.report(int(snap)))
	}
	return object{"pending": pending, "start_ts": real(r.start.Seconds()), "pkts": list}, nil
}

func (f recorded) report(snap int) object {
	origin, shown := "RX", f.Bytes
	if f.Sent {
		origin = "TX"
	}
	if snap > 0 && snap < len(shown) {
		shown = shown[:snap]
	}
	return object{
		"binary": shown, "wirelen": len(f.Bytes), "index": f.index, "origin": origin, "port": f.port,
		"ts": real(f.Time.Seconds()),
	}
}

func (c *captures) remove(p *params) (any, error) {
	id, r, err := c.named(p)
	if err != nil {
		return nil, err
	}
	r.stop()
	delete(c.open, id)
	return object{}, nil
}

func (c *captures) activeOn(port *port) bool {
	for _, r := range c.open {
		if r.active && (r.receive[port.index] || r.transmit[port.index]) {
			return true
		}
	}
	return false
}

func (c *captures) removeAll() {
	for id, r := range c.open {
		r.stop()
		delete(c.open, id)
	}
}
