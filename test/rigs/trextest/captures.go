package trextest

import (
	"maps"
	"slices"
)

// captures are the captures that clients have started, and what they have of the frames that ports receive.
type captures struct {
	clock  func() float64
	ports  map[int]*port
	byID   map[int]*capture
	lastID int
}

type capture struct {
	rx     []int
	active bool
	frames []object
	count  int
}

// call is the method capture.
func (c *captures) call(request Call) (any, error) {
	var params struct {
		Command string `json:"command"`
		ID      int    `json:"capture_id"`
		RX      []int  `json:"rx"`
	}
	if err := request.Decode(&params); err != nil {
		return nil, err
	}
	switch params.Command {
	case "start":
		return c.start(params.RX)
	case "status":
		return c.list(), nil
	}
	k, ok := c.byID[params.ID]
	if !ok {
		return nil, refuse("capture ID %d does not exist", params.ID)
	}
	switch params.Command {
	case "fetch":
		frames := k.frames
		k.frames = []object{}
		return object{"pending": 0, "pkts": frames, "start_ts": c.clock()}, nil
	case "stop":
		k.active = false
		return object{"pkt_count": len(k.frames), "endpoint": ""}, nil
	case "remove":
		delete(c.byID, params.ID)
	}
	return object{}, nil
}

func (c *captures) start(rx []int) (any, error) {
	for _, index := range rx {
		if p := c.ports[index]; p == nil || !p.service {
			return nil, refuse("capturing RX traffic on port %d requires service mode", index)
		}
	}
	c.lastID++
	c.byID[c.lastID] = &capture{rx: rx, active: true, frames: []object{}}
	return object{"capture_id": c.lastID, "start_ts": c.clock()}, nil
}

// list is what capture answers to "status".
func (c *captures) list() []object {
	captures := []object{}
	for _, id := range slices.Sorted(maps.Keys(c.byID)) {
		k := c.byID[id]
		captures = append(captures, object{
			"id": id, "filter": object{"tx": 0, "rx": mask(k.rx), "bpf": ""}, "state": k.state(), "mode": "fixed",
			"limit": 1000, "count": len(k.frames), "bytes": 0, "matched": k.count, "fetched": k.count - len(k.frames),
		})
	}
	return captures
}

// mask has a bit for each port.
func mask(ports []int) (bits uint64) {
	for _, p := range ports {
		bits |= 1 << p
	}
	return bits
}

func (k *capture) state() string {
	if k.active {
		return "ACTIVE"
	}
	return "STOPPED"
}

// running says whether a capture runs on the port.
func (c *captures) running(index int) bool {
	for _, k := range c.byID {
		if k.active && slices.Contains(k.rx, index) {
			return true
		}
	}
	return false
}

// receive counts a frame and shows it to the captures.
func (c *captures) receive(index int, frame []byte) {
	p := c.ports[index]
	p.received++
	p.receivedBytes += float64(max(len(frame), 60) + 4)
	for _, k := range c.byID {
		if k.active && slices.Contains(k.rx, index) {
			k.count++
			k.frames = append(k.frames, object{
				"binary": frame, "index": k.count, "origin": "RX", "port": index, "ts": c.clock(),
				"wirelen": len(frame),
			})
		}
	}
}
