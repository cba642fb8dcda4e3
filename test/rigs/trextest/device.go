package trextest

import (
	"encoding/binary"
	"maps"
	"net"
	"net/netip"
	"slices"
)

type capture struct {
	rx     []int
	active bool
	frames []object
	count  int
}

func (g *Generator) capture(c Call) (any, error) {
	var params struct {
		Command string `json:"command"`
		ID      int    `json:"capture_id"`
		RX      []int  `json:"rx"`
	}
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	switch params.Command {
	case "start":
		return g.startCapture(params.RX)
	case "status":
		return g.listCaptures(), nil
	}
	k, ok := g.captures[params.ID]
	if !ok {
		return nil, refuse("capture ID %d does not exist", params.ID)
	}
	switch params.Command {
	case "fetch":
		frames := k.frames
		k.frames = []object{}
		return object{"pending": 0, "pkts": frames, "start_ts": g.clock()}, nil
	case "stop":
		k.active = false
		return object{"pkt_count": len(k.frames), "endpoint": ""}, nil
	case "remove":
		delete(g.captures, params.ID)
	}
	return object{}, nil
}

func (g *Generator) startCapture(rx []int) (any, error) {
	for _, index := range rx {
		if p := g.ports[index]; p == nil || !p.service {
			return nil, refuse("capturing RX traffic on port %d requires service mode", index)
		}
	}
	g.nextID++
	g.captures[g.nextID] = &capture{rx: rx, active: true, frames: []object{}}
	return object{"capture_id": g.nextID, "start_ts": g.clock()}, nil
}

// listCaptures is what capture answers to "status".
func (g *Generator) listCaptures() []object {
	list := []object{}
	for _, id := range slices.Sorted(maps.Keys(g.captures)) {
		k := g.captures[id]
		list = append(list, object{
			"id": id, "filter": object{"tx": 0, "rx": mask(k.rx), "bpf": ""}, "state": k.state(), "mode": "fixed",
			"limit": 1000, "count": len(k.frames), "bytes": 0, "matched": k.count, "fetched": k.count - len(k.frames),
		})
	}
	return list
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

// capturing says whether a capture runs on the port.
func (g *Generator) capturing(index int) bool {
	for _, k := range g.captures {
		if k.active && slices.Contains(k.rx, index) {
			return true
		}
	}
	return false
}

// Receive has a port receive a frame.
func (g *Generator) Receive(index int, frame []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.receive(index, frame)
}

// receive counts a frame and shows it to the captures.
func (g *Generator) receive(index int, frame []byte) {
	p := g.ports[index]
	p.received++
	p.receivedBytes += float64(max(len(frame), 60) + 4)
	for _, k := range g.captures {
		if k.active && slices.Contains(k.rx, index) {
			k.count++
			k.frames = append(k.frames, object{
				"binary": frame, "index": k.count, "origin": "RX", "port": index, "ts": g.clock(),
				"wirelen": len(frame),
			})
		}
	}
}

func (g *Generator) pushPackets(p *port, c Call) (any, error) {
	var params struct {
		Packets []struct {
			Binary []byte `json:"binary"`
		} `json:"pkts"`
	}
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	for _, packet := range params.Packets {
		p.sent++
		p.sentBytes += float64(max(len(packet.Binary), 60) + 4)
		g.toDevice(p, packet.Binary)
	}
	return object{"sent": len(params.Packets), "ts": g.clock()}, nil
}

// toDevice plays the device, which answers for its addresses, or routes the frame.
func (g *Generator) toDevice(p *port, frame []byte) {
	if p.linkDown || p.Neighbor == "" || len(frame) < 14 {
		return
	}
	device, err := net.ParseMAC(p.Neighbor)
	if err != nil {
		return
	}
	switch binary.BigEndian.Uint16(frame[12:]) {
	case 0x0806:
		g.answerARP(p, frame, device)
	case 0x86dd:
		g.answerSolicitation(p, frame, device)
	case 0x0800:
		g.route(p, frame, device)
	}
}

func (g *Generator) answerARP(p *port, frame []byte, device net.HardwareAddr) {
	if len(frame) < 42 || frame[21] != 1 || !slices.Contains(p.Addresses, netip.AddrFrom4([4]byte(frame[38:42]))) {
		return
	}
	reply := slices.Concat(frame[6:12], device, []byte{8, 6, 0, 1, 8, 0, 6, 4, 0, 2}, device, frame[38:42],
		frame[22:32])
	g.receive(p.Index, reply)
}

func (g *Generator) answerSolicitation(p *port, frame []byte, device net.HardwareAddr) {
	if len(frame) < 86 || frame[54] != 135 || !slices.Contains(p.Addresses, netip.AddrFrom16([16]byte(frame[62:78]))) {
		return
	}
	target, asker := frame[62:78], frame[22:38]
	message := slices.Concat([]byte{136, 0, 0, 0, 0x60, 0, 0, 0}, target, []byte{2, 1}, device)
	header := slices.Concat([]byte{0x60, 0, 0, 0, 0, byte(len(message)), 58, 255}, target, asker)
	sum := onesComplement(slices.Concat(header[8:40], []byte{0, 0, 0, byte(len(message)), 0, 0, 0, 58}, message))
	binary.BigEndian.PutUint16(message[2:], sum)
	g.receive(p.Index, slices.Concat(frame[6:12], device, []byte{0x86, 0xdd}, header, message))
}

// route returns the frame on the other link, if it was addressed to the device and has hops left.
func (g *Generator) route(p *port, frame []byte, device net.HardwareAddr) {
	target, ok := g.ports[p.ForwardsTo]
	if !ok || len(frame) < 34 || !slices.Equal(frame[:6], []byte(device)) || frame[22] < 2 {
		return
	}
	forwarded := slices.Clone(frame)
	toMAC, err1 := net.ParseMAC(target.MAC)
	fromMAC, err2 := net.ParseMAC(target.Neighbor)
	if err1 != nil || err2 != nil {
		return
	}
	copy(forwarded, toMAC)
	copy(forwarded[6:], fromMAC)
	forwarded[22]--
	forwarded[24], forwarded[25] = 0, 0
	binary.BigEndian.PutUint16(forwarded[24:], onesComplement(forwarded[14:34]))
	g.receive(target.Index, forwarded)
}

// onesComplement is the Internet checksum (RFC 1071) of an even number of bytes.
func onesComplement(b []byte) uint16 {
	var sum uint32
	for i := 0; i+1 < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
