package machine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/prometheus/procfs"

	"github.com/linerate-dev/linerate/internal/host/signs"
)

// tick is the unit of the kernel's processor times, in seconds (USER_HZ).
const tick = 0.01

// unwrapped is a counter of the kernel's that has 32 bits, and at a million frames a second begins anew each 72
// minutes.
type unwrapped struct {
	previous uint32
	total    uint64
}

// grow is the count by now, since the first reading and what was counted then.
func (r *SignsReader) grow(name string, value uint32) float64 {
	if r.counted == nil {
		r.counted = map[string]unwrapped{}
	}
	c, found := r.counted[name]
	if found {
		c.total += uint64(value - c.previous) // modulo 2^32, as the kernel counts
	} else {
		c.total = uint64(value)
	}
	c.previous = value
	r.counted[name] = c
	return float64(c.total)
}

// softIRQs are each processor's counts of softirqs, in which Linux receives and sends frames. They have the time,
// the number of softirqs and of frames, and how often a softirq ended with frames still waiting (squeezed).
func (r *SignsReader) softIRQs(kernel procfs.FS) ([]signs.Value, error) {
	stat, err := kernel.Stat()
	if err != nil {
		return nil, fmt.Errorf("for how long this machine's processors were in softirqs can't be read: %w", err)
	}
	ran, err := kernel.Softirqs()
	if err != nil {
		return nil, fmt.Errorf("how often this machine ran softirqs can't be read: %w", err)
	}
	network, err := kernel.NetSoftnetStat()
	if err != nil {
		return nil, fmt.Errorf("what became of frames in this machine's softirqs can't be read: %w", err)
	}
	rows := map[int]procfs.SoftnetStat{}
	for _, row := range network {
		rows[int(row.Index)] = row
	}
	numbers := make([]int, 0, len(stat.CPU))
	for number := range stat.CPU {
		numbers = append(numbers, int(number))
	}
	slices.Sort(numbers)
	if len(numbers) == 0 {
		return nil, errors.New("this machine's kernel tells of no processor")
	}
	var sum []signs.Value
	var parts []signs.Value
	for _, n := range numbers {
		count := func(name string, value uint32) signs.Value {
			return signs.Value{Series: name, Number: r.grow(fmt.Sprintf("%s %d", name, n), value)}
		}
		values := []signs.Value{
			{Series: "time", Number: stat.CPU[int64(n)].SoftIRQ, Step: tick},
			count("netRx", uint32(countOf(ran.NetRx, n))), count("netTx", uint32(countOf(ran.NetTx, n))),
			count("processed", rows[n].Processed), count("dropped", rows[n].Dropped),
			count("squeezed", rows[n].TimeSqueezed),
		}
		sum = add(sum, values)
		for _, v := range values {
			v.Part = fmt.Sprintf("processor %d", n)
			parts = append(parts, v)
		}
	}
	if len(numbers) > signs.MostEach {
		parts = nil
	}
	return append(sum, parts...), nil
}

// add adds a processor's values to those of all.
func add(sum, values []signs.Value) []signs.Value {
	if sum == nil {
		sum = make([]signs.Value, len(values))
	}
	for i, v := range values {
		sum[i] = signs.Value{Series: v.Series, Part: signs.OfAllProcessors, Number: sum[i].Number + v.Number,
			Step: sum[i].Step + v.Step}
	}
	return sum
}

// countOf is a processor's count, or 0 where the kernel has none because the processor is off.
func countOf(counts []uint64, n int) uint64 {
	if n >= len(counts) {
		return 0
	}
	return counts[n]
}
