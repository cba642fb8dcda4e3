package fakeport

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/units"
)

// Inject implements datapath.Port. The frames arrive at the peer at once, without the gap.
func (p *Port) Inject(frames [][]byte, _ time.Duration) error {
	p.mu.Lock()
	err := p.checkOpen()
	p.mu.Unlock()
	if err != nil {
		return err
	}
	for _, frame := range frames {
		p.send(frame)
	}
	return nil
}

func (p *Port) send(frame []byte) {
	p.mu.Lock()
	p.base.Sent = p.base.Sent.Add(sizeOf(frame))
	watchers := p.watchers()
	p.mu.Unlock()
	p.show(watchers, frame, true)
	p.peer.Deliver(frame)
}

// Deliver lets a frame arrive, from the peer or from outside as if the peer had sent it.
func (p *Port) Deliver(frame []byte) {
	p.mu.Lock()
	if p.closed || !p.promiscuous && !p.addressed(frame) {
		p.mu.Unlock()
		return
	}
	p.base.Received = p.base.Received.Add(sizeOf(frame))
	watchers, answer := p.watchers(), p.arpAnswer(frame)
	p.mu.Unlock()
	p.show(watchers, frame, false)
	if answer != nil {
		p.send(answer)
	}
}

// addressed says whether a frame is for this port's MAC, or for a group.
func (p *Port) addressed(frame []byte) bool {
	return len(frame) >= 14 && (frame[0]&1 == 1 || bytes.Equal(frame[:6], p.options.MAC[:]))
}

func sizeOf(frame []byte) units.Traffic {
	return units.Traffic{Packets: 1, Bytes: int64(max(len(frame), 60) + units.FCSBytes)}
}

// Capture implements datapath.Port. fn runs in the goroutine that sends the frame.
func (p *Port) Capture(fn func(datapath.Frame)) (stop func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.checkOpen(); err != nil {
		return nil, err
	}
	p.captureID++
	id := p.captureID
	p.captures[id] = fn
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.captures, id)
	}, nil
}

func (p *Port) watchers() []func(datapath.Frame) {
	var functions []func(datapath.Frame)
	for _, fn := range p.captures {
		functions = append(functions, fn)
	}
	return functions
}

func (p *Port) show(watchers []func(datapath.Frame), frame []byte, sent bool) {
	for _, fn := range watchers {
		fn(datapath.Frame{Time: p.clock.Now(), Sent: sent, Bytes: slices.Clone(frame)})
	}
}

// arpAnswer is the answer to an ARP request (RFC 826) for one of the port's addresses, nil to anything else.
//
//	0    6    12   14           20  22    28   32    38   42
//	│dst │src │0806│hardware… op│   │sndMAC│sndIP│tgtMAC│tgtIP│
func (p *Port) arpAnswer(frame []byte) []byte {
	if len(frame) < 42 || binary.BigEndian.Uint16(frame[12:]) != 0x0806 || binary.BigEndian.Uint16(frame[20:]) != 1 {
		return nil
	}
	if target := netip.AddrFrom4([4]byte(frame[38:42])); !slices.Contains(p.local, target) {
		return nil
	}
	mac, asker := p.options.MAC[:], frame[22:32]
	header := slices.Concat(asker[:6], mac, frame[12:20], []byte{0, 2})
	return slices.Concat(header, mac, frame[38:42], asker)
}
