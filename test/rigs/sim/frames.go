package sim

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/units"
)

// capture keeps what a generator's ports receive.
type capture struct {
	engine *Engine
	ports  []int
	frames []engine.CapturedFrame
}

// Capture implements engine.Engine.
func (e *Engine) Capture(ctx context.Context, ports []int) (engine.Capture, error) {
	if err := e.ready(ctx, ports[0]); err != nil {
		return nil, err
	}
	defer e.lock()()
	if e.capture != nil {
		return nil, fmt.Errorf("a capture is running already: %w", engine.ErrRefused)
	}
	e.capture = &capture{engine: e, ports: slices.Clone(ports)}
	return e.capture, nil
}

// Fetch implements engine.Capture.
func (c *capture) Fetch(ctx context.Context) ([]engine.CapturedFrame, error) {
	if err := c.engine.reach(ctx); err != nil {
		return nil, err
	}
	defer c.engine.lock()()
	got := c.frames
	c.frames = nil
	return got, nil
}

// Close implements engine.Capture.
func (c *capture) Close(ctx context.Context) error {
	if err := c.engine.reach(ctx); err != nil {
		return err
	}
	defer c.engine.lock()()
	c.engine.capture = nil
	return nil
}

// Inject implements engine.Engine. The device treats each frame as its mode says.
func (e *Engine) Inject(ctx context.Context, port int, frames [][]byte) error {
	if err := e.ready(ctx, port); err != nil {
		return err
	}
	defer e.lock()()
	if e.ports[port].running {
		return fmt.Errorf("port %d is transmitting: %w", port, engine.ErrRefused)
	}
	for _, f := range frames {
		e.injected[port] = e.injected[port].Add(onWire(f))
		e.pass(port, slices.Clone(f))
	}
	return nil
}

// pass lets one frame through the device.
func (e *Engine) pass(port int, frame []byte) {
	i := e.world.directionFrom(port)
	if i < 0 || e.world.cfg.Directions[i].Device.Silent {
		return
	}
	d, far := e.world.cfg.Directions[i], e.world.generators[e.world.receiver(i, e.index)]
	if e.world.resolving(port) {
		return
	}
	switch {
	case d.Device.Bounced:
		e.deliver(port, frame)
		return
	case d.Device.Bypassed:
		far.deliver(d.To, frame)
		return
	}
	if d.Device.Forwarding != "L2" {
		if !slices.Equal(frame[:6], octets(deviceMAC(port))) {
			return // not addressed to the device
		}
		copy(frame, octets(far.mac(d.To)))
		copy(frame[6:], octets(deviceMAC(d.To)))
		if d.Device.Forwarding != "MACRewrite" && !d.Device.KeepsTTL {
			frame[22]--
			mendIPv4(frame)
		}
	}
	if d.Device.Spoils {
		frame[len(frame)-1] ^= 1
	}
	for range e.world.cfg.Directions[i].Device.copies() {
		e.world.schedule(d.Device.MarkedDelay, func() { far.deliver(d.To, frame) })
	}
}

// arrival is a marked frame that is on its way through the device.
type arrival struct {
	due     time.Duration
	deliver func()
}

// schedule has a frame arrive after a delay.
func (w *World) schedule(delay time.Duration, deliver func()) {
	if delay == 0 {
		deliver()
		return
	}
	w.underway = append(w.underway, arrival{w.computed + delay, deliver})
}

// arrive lets the marked frames arrive that have been on their way for long enough.
func (w *World) arrive() {
	w.underway = slices.DeleteFunc(w.underway, func(a arrival) bool {
		due := a.due <= w.computed
		if due {
			a.deliver()
		}
		return due
	})
}

// copies is how often the next marked frame arrives.
func (d *Device) copies() int64 {
	if d.RepeatsOneIn == 0 {
		return 1
	}
	d.marked++
	switch d.marked % d.RepeatsOneIn {
	case 0:
		return 2
	case d.RepeatsOneIn - 1:
		return 0
	}
	return 1
}

// mendIPv4 keeps the header's checksum right where the TTL is one less (RFC 1624).
func mendIPv4(frame []byte) {
	if frame[12] != 0x08 || frame[13] != 0 {
		return
	}
	sum := uint32(frame[24])<<8 + uint32(frame[25]) + 0x100
	sum += sum >> 16
	frame[24], frame[25] = byte(sum>>8), byte(sum)
}

// onWire is a frame as ports count it, with its FCS.
func onWire(frame []byte) units.Traffic {
	return units.Traffic{Packets: 1, Bytes: int64(len(frame)) + 4}
}

func (e *Engine) deliver(port int, frame []byte) {
	e.delivered[port] = e.delivered[port].Add(onWire(frame))
	if e.capture != nil && slices.Contains(e.capture.ports, port) {
		e.capture.frames = append(e.capture.frames, engine.CapturedFrame{Port: port, Instant: e.world.computed,
			Bytes: frame})
	}
}

// resolving counts a frame that the device drops because it does not know its neighbour yet.
func (w *World) resolving(link int) bool {
	for i := range w.cfg.Directions {
		if d := &w.cfg.Directions[i]; d.From == link && d.Device.Resolving > 0 {
			d.Device.Resolving--
			return true
		}
	}
	return false
}

func octets(m engine.MAC) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(string(m), ":", ""))
	if err != nil {
		return nil
	}
	return b
}
