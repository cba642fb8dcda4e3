package forwarder

import (
	"errors"
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// The bounds of a limit. Below the lower one, a burst of one packet is most of a second. Above the upper one, a
// packet takes less than a nanosecond, the clock's unit.
const (
	minPacketsPerSecond = 1
	maxPacketsPerSecond = 500_000_000
	minBitsPerSecond    = 8_000
)

func (s Spec) validate() error {
	if !slices.Contains([]plan.Forwarding{plan.L3, plan.L2, plan.MACRewrite}, s.Forwarding) {
		return fmt.Errorf("forwarding %q: want L3, L2 or MACRewrite", s.Forwarding)
	}
	for i, l := range s.Links {
		if slices.ContainsFunc(s.Links[:i], func(o Link) bool { return o.Interface == l.Interface }) {
			return fmt.Errorf("interface %s: named twice", l.Interface)
		}
	}
	for _, d := range s.Directions {
		if err := s.validateDirection(d); err != nil {
			return err
		}
	}
	return validateLimit(s.Limit)
}

func (s Spec) validateDirection(d Direction) error {
	from, to := s.link(d.From), s.link(d.To)
	if from == nil || to == nil || from == to {
		return fmt.Errorf("direction %s to %s: give two different links of the forwarder", d.From, d.To)
	}
	for _, o := range s.Directions {
		if o != d && (o.From == d.From || o.To == d.To) {
			return fmt.Errorf("directions %s to %s and %s to %s: a link may be the source of one direction and the "+
				"destination of one", d.From, d.To, o.From, o.To)
		}
		if s.Forwarding == plan.L2 && (o.From == d.To) != (o.To == d.From) {
			return fmt.Errorf("directions %s to %s and %s to %s: forwarding L2 joins links in pairs; use both ways "+
				"between the same two links", d.From, d.To, o.From, o.To)
		}
	}
	if s.Forwarding == plan.MACRewrite && to.GeneratorMAC == nil {
		return fmt.Errorf("link %s: forwarding MACRewrite needs the generator's MAC address", d.To)
	}
	return nil
}

func validateLimit(l *plan.Limit) error {
	switch {
	case l == nil:
		return nil
	case l.PacketsPerSecond != 0 && l.Layer2BitsPerSecond != 0:
		return errors.New("limit: give packetsPerSecond or layer2BitsPerSecond, not both")
	case l.Burst < 0:
		return fmt.Errorf("limit: burst %s is negative", l.Burst.Std())
	case l.Layer2BitsPerSecond != 0:
		if l.Layer2BitsPerSecond < minBitsPerSecond {
			return fmt.Errorf("limit: %d bits/s is under the smallest, %d", l.Layer2BitsPerSecond, minBitsPerSecond)
		}
	case l.PacketsPerSecond < minPacketsPerSecond || l.PacketsPerSecond > maxPacketsPerSecond:
		return fmt.Errorf("limit: %d packets/s is outside %d to %d", l.PacketsPerSecond, minPacketsPerSecond,
			maxPacketsPerSecond)
	}
	return nil
}

func (s Spec) link(name string) *Link {
	if i := slices.IndexFunc(s.Links, func(l Link) bool { return l.Interface == name }); i >= 0 {
		return &s.Links[i]
	}
	return nil
}
