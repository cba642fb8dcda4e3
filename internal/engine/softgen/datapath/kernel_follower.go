package datapath

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/cilium/ebpf"

	"github.com/linerate-dev/linerate/internal/units/transit"
)

// follower follows the stamped frames that a port receives.
type follower interface {
	latency() map[uint32]Latency
	transits() map[uint32]transit.Histogram
	// forget forgets a stream. Later frames count as those of a new stream.
	forget(id uint32) error
}

// kernelFollower reads what the counting program has followed. A flow's buckets take
// 28 KiB for each processor, so they are made when the flow's first stamp comes through
// the ring. Until then, all the flow's stamps come through the ring.
type kernelFollower struct {
	maps  kernelMaps
	mutex sync.Mutex // guards flows
	flows map[uint32]*flowTransits
}

// flowTransits are a flow's transit times. The program counts them in buckets, except for the early ones.
type flowTransits struct {
	buckets *ebpf.Map
	early   transit.Histogram
}

func newKernelFollower(m kernelMaps) *kernelFollower {
	return &kernelFollower{maps: m, flows: map[uint32]*flowTransits{}}
}

// record records a stamp that the program has followed and not put into a bucket.
// If the kernel has no memory for buckets, all stamps come that way.
func (k *kernelFollower) record(arrival time.Duration, s stamp) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	id := uint32(s.id)
	if k.flows[id] == nil {
		k.flows[id] = &flowTransits{}
	}
	k.flows[id].early.Record(arrival - s.sent)
	if k.flows[id].buckets == nil {
		k.flows[id].buckets = k.makeBuckets(id)
	}
}

func (k *kernelFollower) makeBuckets(id uint32) *ebpf.Map {
	buckets, err := ebpf.NewMap(k.maps.bucketsOfFlow)
	if err != nil {
		return nil
	}
	if k.maps.transits.Put(id, buckets) != nil {
		_ = buckets.Close() // the kernel has no reference to the map
		return nil
	}
	return buckets
}

func (k *kernelFollower) transits() map[uint32]transit.Histogram {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	transits := make(map[uint32]transit.Histogram, len(k.flows))
	for id, t := range k.flows {
		transits[id] = t.histogram()
	}
	return transits
}

// histogram adds up all processors' buckets.
func (t *flowTransits) histogram() transit.Histogram {
	h := t.early.Clone()
	var perProcessor []countBuckets // by processor
	// Lookup can't fail on an array that is open
	if t.buckets == nil || t.buckets.Lookup(uint32(0), &perProcessor) != nil {
		return h
	}
	for i := range perProcessor {
		h.Merge(transit.FromCounts(perProcessor[i].Frames[:]))
	}
	return h
}

func (k *kernelFollower) latency() map[uint32]Latency {
	latencies := map[uint32]Latency{}
	for id, h := range k.transits() {
		var f followed
		if err := k.maps.followed.LookupWithFlags(id, &f, ebpf.LookupLock); err == nil && f.Received > 0 {
			latencies[id] = f.latency(h)
		}
	}
	return latencies
}

func (k *kernelFollower) forget(id uint32) error {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	t := k.flows[id]
	if t == nil {
		return nil
	}
	delete(k.flows, id)
	var errs []error
	if t.buckets != nil {
		errs = append(errs, k.maps.transits.Delete(id), t.buckets.Close())
	}
	errs = append(errs, k.maps.followed.Update(id, followed{}, ebpf.UpdateExist|ebpf.UpdateLock))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("forget flow id %d: %w", id, err)
	}
	return nil
}

func (k *kernelFollower) close() error {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	var errs []error
	for t := range maps.Values(k.flows) {
		errs = append(errs, t.buckets.Close())
	}
	clear(k.flows)
	return errors.Join(errs...)
}
