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
	// forget forgets a stream: frames that come later count as those of a new one.
	forget(id uint32) error
}

// kernelFollower reads what the counting program has followed. A flow's buckets take 28 KiB for each processor, so
// they are made when the flow's first stamp comes through the ring; stamps that the program can't count until then
// come through the ring, too.
type kernelFollower struct {
	maps  kernelMaps
	mutex sync.Mutex // guards what follows
	seen  map[uint32]*transitsSeen
}

// transitsSeen are a flow's transit times: the program's buckets, and the first few.
type transitsSeen struct {
	buckets *ebpf.Map
	early   transit.Histogram
}

func newKernelFollower(m kernelMaps) *kernelFollower {
	return &kernelFollower{maps: m, seen: map[uint32]*transitsSeen{}}
}

// record records a stamp that the program has followed and not put into a bucket. Where the kernel has no memory for
// buckets, all stamps come that way.
func (k *kernelFollower) record(at time.Duration, s stamp) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	id := uint32(s.id)
	if k.seen[id] == nil {
		k.seen[id] = &transitsSeen{}
	}
	k.seen[id].early.Record(at - s.at)
	if k.seen[id].buckets == nil {
		k.seen[id].buckets = k.makeBuckets(id)
	}
}

func (k *kernelFollower) makeBuckets(id uint32) *ebpf.Map {
	buckets, err := ebpf.NewMap(k.maps.bucketsOfFlow)
	if err != nil {
		return nil
	}
	if k.maps.transits.Put(id, buckets) != nil {
		_ = buckets.Close() // nothing was put there
		return nil
	}
	return buckets
}

func (k *kernelFollower) transits() map[uint32]transit.Histogram {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	out := make(map[uint32]transit.Histogram, len(k.seen))
	for id, t := range k.seen {
		out[id] = t.histogram()
	}
	return out
}

// histogram adds up all processors' buckets.
func (t *transitsSeen) histogram() transit.Histogram {
	h := t.early.Clone()
	var each []countBuckets                                            // by processor
	if t.buckets == nil || t.buckets.Lookup(uint32(0), &each) != nil { // the latter is impossible on an array that is open
		return h
	}
	for i := range each {
		h.Merge(transit.FromCounts(each[i].Frames[:]))
	}
	return h
}

func (k *kernelFollower) latency() map[uint32]Latency {
	out := map[uint32]Latency{}
	for id, h := range k.transits() {
		var f followed
		if err := k.maps.followed.LookupWithFlags(id, &f, ebpf.LookupLock); err == nil && f.Received > 0 {
			out[id] = f.latency(h)
		}
	}
	return out
}

func (k *kernelFollower) forget(id uint32) error {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	t := k.seen[id]
	if t == nil {
		return nil
	}
	delete(k.seen, id)
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
	for t := range maps.Values(k.seen) {
		if t.buckets != nil {
			errs = append(errs, t.buckets.Close())
		}
	}
	clear(k.seen)
	return errors.Join(errs...)
}
