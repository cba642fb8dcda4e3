package profile

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// flowSet is a replica's flows, with the values that each varied field takes, in step.
type flowSet struct {
	count     int64
	fixed     []variable // one value for fields that don't vary
	variables []variable
}

// variable is a field that takes count values from low on, each a step above the one before, upwards or downwards,
// and then again, or at random.
type variable struct {
	name       string
	address    bool // an IP address
	balance    bool // not a field but a counter in the payload that keeps a checksum
	offset     int
	size       int // bytes
	low        uint64
	count      int64
	step       uint64 // 1 for 0
	descending bool
	random     bool // each frame's value is drawn
}

// first is the value in the first frame.
func (v variable) first() uint64 {
	if v.descending {
		return v.high()
	}
	return v.low
}

// high is the end of the range. It is the largest value where the step is 1, and else less than a step above it, as
// a range is a multiple of its step.
func (v variable) high() uint64 { return v.low + uint64(v.count)*v.stride() - 1 }

func (v variable) stride() uint64 { return max(v.step, 1) }

func (v variable) write(frame []byte, value uint64) {
	if v.size == 2 {
		binary.BigEndian.PutUint16(frame[v.offset:], uint16(value))
		return
	}
	binary.BigEndian.PutUint32(frame[v.offset:], uint32(value))
}

// putFirst writes the first flow's values.
func (f flowSet) putFirst(frame []byte) {
	for _, v := range slices.Concat(f.fixed, f.variables) {
		v.write(frame, v.first())
	}
}

// balanceBytes is how much payload the balancing counters take.
func (f flowSet) balanceBytes() int {
	n := 0
	for _, v := range f.variables {
		if v.balance {
			n += v.size
		}
	}
	return n
}

// flows works out which values each field takes on this replica.
func (s Spec) flows() (flowSet, error) {
	if err := s.checkFlows(); err != nil {
		return flowSet{}, err
	}
	start, end := s.slice(s.Replica), s.slice(s.Replica+1)
	if start == end {
		return flowSet{}, fmt.Errorf("flows.count %d is less than the %d replicas: each needs a flow of its own",
			s.Flows.Count, s.Replicas)
	}
	rooms := s.rooms()
	if err := s.enoughRoom(rooms); err != nil {
		return flowSet{}, err
	}
	set := flowSet{count: end - start}
	form := s.form()
	for _, r := range rooms {
		v, err := s.variable(r, start, set.count)
		if err != nil {
			return flowSet{}, err
		}
		v.offset = form.offset(r.field)
		if v.count == 1 {
			set.fixed = append(set.fixed, v)
		} else {
			v.random = s.Flows.Random
			set.variables = append(set.variables, v)
		}
	}
	if form.ipv6 {
		set.variables = balanced(set.variables, form.payload())
	}
	return set, nil
}

// slice is the first flow of a replica.
func (s Spec) slice(replica int) int64 {
	n := int64(s.Replicas)
	return s.Flows.Count/n*int64(replica) + s.Flows.Count%n*int64(replica)/n
}

// variable is the field's values for count flows from flow number from on.
func (s Spec) variable(r room, start, count int64) (variable, error) {
	v := variable{name: variableName(r.field), address: isAddress(r.field), size: fieldSize(r.field), low: r.first,
		count: 1}
	switch {
	case !slices.Contains(s.Flows.Vary, r.field):
	case r.capacity >= s.Flows.Count:
		// what is drawn may be any value between the least and the most
		if s.Flows.Apart && !s.Flows.Random && r.field == DestinationAddress {
			v.step = uint64(r.capacity / s.Flows.Count)
		}
		v.low, v.count = r.first+uint64(start)*v.stride(), count
	default:
		v.count = largestDivisor(count, r.capacity)
		if v.count == 1 && count > 1 {
			return v, fmt.Errorf("%d flows of a replica can't be spread evenly over the %d values of %s in %s: use a multiple of that, or widen it",
				count, r.capacity, r.field, r.place)
		}
	}
	return v, nil
}

func (s Spec) checkFlows() error {
	if !s.Source.IsValid() || !s.Destination.IsValid() || s.Source.Addr().Is4() != s.Destination.Addr().Is4() {
		return fmt.Errorf("source network %s and destination network %s must both be IPv4 or both IPv6", s.Source,
			s.Destination)
	}
	for i, field := range s.Flows.Vary {
		if !slices.Contains(fields(), field) {
			return fmt.Errorf("flows.fields[%d]: %q is not known: use %s", i, field, join(fields()))
		}
		if slices.Contains(s.Flows.Vary[:i], field) {
			return fmt.Errorf("flows.fields[%d]: %s is there twice", i, field)
		}
	}
	if s.Flows.Random && len(s.Flows.Vary) != 1 {
		return fmt.Errorf("flows.fields: order Random draws one field: name one of %s", join(fields()))
	}
	if s.Flows.Random && s.Source.Addr().Is6() {
		return fmt.Errorf("flows.order: Random would need a UDP checksum of its own in each IPv6 frame, which generators don't make: use Sequential, or IPv4")
	}
	if s.Flows.Count > 1 && len(s.Flows.Vary) == 0 {
		return fmt.Errorf("flows.count %d without a field that varies: set flows.fields to one or more of %s",
			s.Flows.Count, join(fields()))
	}
	return nil
}

// enoughRoom refuses more flows than the varied field with the most room can tell apart.
func (s Spec) enoughRoom(rooms []room) error {
	var highest int64
	var names []string
	for _, r := range rooms {
		if slices.Contains(s.Flows.Vary, r.field) {
			highest = max(highest, r.capacity)
			names = append(names, fmt.Sprintf("%s in %s has %d values", r.field, r.place, r.capacity))
		}
	}
	if s.Flows.Count > max(highest, 1) {
		return fmt.Errorf("flows.count %d doesn't fit: %s, so at most %d flows; widen a network, or vary %s too",
			s.Flows.Count, strings.Join(names, ", "), highest, SourcePort)
	}
	return nil
}

// largestDivisor is the largest divisor of n that is at most limit.
func largestDivisor(n, limit int64) int64 {
	best := int64(1)
	for d := int64(1); d*d <= n; d++ {
		if n%d != 0 {
			continue
		}
		for _, candidate := range []int64{d, n / d} {
			if candidate <= limit {
				best = max(best, candidate)
			}
		}
	}
	return best
}
