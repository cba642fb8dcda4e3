package machine

// This file reads the vital signs of this machine from /proc and /sys, which everybody may read. It needs no
// rights, and changes nothing.

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/procfs"

	"github.com/linerate-dev/linerate/internal/host/signs"
)

// SignsReader reads them, each type as often as its kind says at most, however many ask. The zero value reads this
// machine. It is safe for concurrent use.
type SignsReader struct {
	// Proc and Sys are where the kernel's file systems are mounted, /proc and /sys where they are empty.
	Proc, Sys string
	// Links reads the counters of a device's interfaces on links. It is nil where this program isn't with the
	// device.
	Links func() ([]signs.Value, error)

	arch string // the architecture of the processors, where it isn't the one that this program was built for

	mu      sync.Mutex // guards what follows
	latest  map[string]signs.Reading
	counted map[string]unwrapped
	sensors []sensor // once some were found
}

// unread is for how long nobody tries again to read a missing value. Mostly the machine doesn't have it, and
// looking for it costs as much as reading it.
const unread = 2 * time.Second

// Read is the readings of these types, each at most as old as its type's interval. clock is the caller's. Read
// skips an unknown type.
func (r *SignsReader) Read(types []string, clock func() time.Duration) (readings []signs.Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range types {
		kind, ok := signs.Kinds[t]
		if !ok {
			continue
		}
		moment := clock()
		reading, found := r.latest[t]
		interval := kind.Interval
		if reading.Missing != "" {
			interval = unread
		}
		if !found || moment-reading.At >= interval {
			r.keep(t, moment, clock)
		}
		readings = append(readings, r.latest[t])
	}
	return readings
}

// keep reads a type anew.
func (r *SignsReader) keep(t string, moment time.Duration, clock func() time.Duration) {
	values, err := r.read(t)
	reading := signs.Reading{Type: t, At: moment, Took: clock() - moment, Values: values}
	if err != nil {
		reading.Values, reading.Missing = nil, err.Error()
	}
	if r.latest == nil {
		r.latest = map[string]signs.Reading{}
	}
	r.latest[t] = reading
}

func (r *SignsReader) read(t string) ([]signs.Value, error) {
	kernel, err := procfs.NewFS(cmp.Or(r.Proc, procfs.DefaultMountPoint))
	if err != nil {
		return nil, fmt.Errorf("this machine's kernel can't be asked: %w", err)
	}
	switch t {
	case signs.Memory:
		return memory(kernel)
	case signs.Load:
		return load(kernel)
	case signs.SoftIRQs:
		return r.softIRQs(kernel)
	case signs.Frequencies:
		return r.frequencies(kernel)
	case signs.Temperatures:
		return r.temperatures()
	case signs.Interfaces:
		return r.interfaces()
	}
	return nil, fmt.Errorf("nothing here reads %s", t)
}

// memory is what programs may still have, which the kernel estimates, and what is left of the machine's.
func memory(kernel procfs.FS) ([]signs.Value, error) {
	m, err := kernel.Meminfo()
	switch {
	case err != nil:
		return nil, fmt.Errorf("this machine's memory can't be read: %w", err)
	case m.MemTotalBytes == nil || m.MemAvailableBytes == nil:
		return nil, errors.New("this machine's kernel doesn't say how much memory is available (MemAvailable in /proc/meminfo, since Linux 3.14)")
	}
	return []signs.Value{
		{Series: "used", Number: float64(*m.MemTotalBytes - min(*m.MemTotalBytes, *m.MemAvailableBytes))},
		{Series: "available", Number: float64(*m.MemAvailableBytes)},
	}, nil
}

// load is how many threads ran or wanted to, on average of the last minutes.
func load(kernel procfs.FS) ([]signs.Value, error) {
	l, err := kernel.LoadAvg()
	if err != nil {
		return nil, fmt.Errorf("this machine's load can't be read: %w", err)
	}
	return []signs.Value{{Series: "load1", Number: l.Load1}, {Series: "load5", Number: l.Load5},
		{Series: "load15", Number: l.Load15}}, nil
}

// interfaces are the device's own.
func (r *SignsReader) interfaces() ([]signs.Value, error) {
	if r.Links == nil {
		return nil, errors.New("nobody of linerate's is in the device's network namespace to read its interfaces")
	}
	return r.Links()
}

func (r *SignsReader) architecture() string { return cmp.Or(r.arch, runtime.GOARCH) }

// spread are the lowest, mean and highest of some numbers, of which there is one at least.
func spread(numbers []float64) (lowest, mean, highest float64) {
	sum := 0.0
	for _, n := range numbers {
		sum += n
	}
	return slices.Min(numbers), sum / float64(len(numbers)), slices.Max(numbers)
}
