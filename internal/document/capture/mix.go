package capture

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/units"
)

// MostFlows is how many flows a summary tells apart. Further ones aren't counted.
const MostFlows = 1 << 20

// Summary is what traffic is made of.
type Summary struct {
	// Sizes are how many frames there are of each size. Of a histogram they are in its own unit, such as percent.
	Sizes map[units.FrameSize]float64
	// Frames counts all of them, and Shorter those that a histogram has below Ethernet's least, which count as 64.
	Frames  float64
	Flows   int
	More    bool // more flows than were counted
	Names   map[string]int
	Largest units.FrameSize
}

// Summarize reads a capture.
func Summarize(r io.Reader) (Summary, error) {
	s := Summary{Sizes: map[units.FrameSize]float64{}, Names: map[string]int{}}
	flows := map[Flow]struct{}{}
	err := Read(r, func(f Frame) error {
		if f.Size > units.MaxFrameSize {
			return fmt.Errorf("frame %d: %w", f.Number, tooLong(f.Size))
		}
		s.add(f.Size, 1)
		name := "other"
		if f.Flow.Source.IsValid() {
			name = f.Flow.Name()
			if f.Flow.Source.Is6() {
				name += " over IPv6"
			}
			if _, known := flows[f.Flow]; !known && len(flows) < MostFlows {
				flows[f.Flow] = struct{}{}
			} else if !known {
				s.More = true
			}
		}
		s.Names[name]++
		return nil
	})
	s.Flows = len(flows)
	if err == nil && s.Frames == 0 {
		err = fmt.Errorf("it has no frames")
	}
	return s, err
}

func tooLong(size units.FrameSize) error {
	return fmt.Errorf("it has %d bytes, of %d at most: the capture has packets that the card cut or joined; capture anew "+
		"after \"ethtool -K INTERFACE tso off gso off gro off lro off\"", size, units.MaxFrameSize)
}

func (s *Summary) add(size units.FrameSize, count float64) {
	s.Sizes[size] += count
	s.Frames += count
	s.Largest = max(s.Largest, size)
}

// The most that a histogram may have.
const (
	mostLines     = 10_000
	mostLineBytes = 256
	mostCount     = 1e15
)

// ReadHistogram reads lines of a size in bytes with FCS, or a range of sizes (80-160, whose middle counts), and how
// many frames there are of it, in any unit. A first line of words is a heading; # begins a comment.
func ReadHistogram(r io.Reader) (Summary, error) {
	s := Summary{Sizes: map[units.FrameSize]float64{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, mostLineBytes), mostLineBytes)
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		line = strings.TrimSpace(line)
		switch {
		case n > mostLines:
			return s, fmt.Errorf("line %d: a histogram has at most %d lines", n, mostLines)
		case line == "":
			continue
		}
		size, count, err := histogramLine(line)
		if err != nil && n == 1 && !strings.ContainsAny(line[:1], "0123456789") {
			continue // a heading
		}
		if err != nil {
			return s, fmt.Errorf("line %d: %w", n, err)
		}
		if count > 0 {
			s.add(size, count)
		}
	}
	if err := lines.Err(); err != nil {
		return s, fmt.Errorf("neither a capture nor a histogram of lines such as 64,1200: %w", err)
	}
	if s.Frames == 0 {
		return s, fmt.Errorf("it has no frames: write a size and a count in each line, such as 64,1200")
	}
	return s, nil
}

func histogramLine(line string) (units.FrameSize, float64, error) {
	fields := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(",; \t", c) })
	if len(fields) != 2 {
		return 0, 0, fmt.Errorf("%.40q isn't a size and a count, such as 64,1200", line)
	}
	low, high, isRange := strings.Cut(fields[0], "-")
	from, err := strconv.ParseUint(low, 10, 16)
	to := from
	if err == nil && isRange {
		to, err = strconv.ParseUint(high, 10, 16)
	}
	if err != nil || to < from {
		return 0, 0, fmt.Errorf("%.40q is no size in bytes, such as 64, or 80-160", fields[0])
	}
	size := units.FrameSize((from + to) / 2)
	if err := size.Check(); err != nil {
		return 0, 0, err
	}
	count, err := strconv.ParseFloat(strings.TrimSuffix(fields[1], "%"), 64)
	if err != nil || !(count >= 0) || count > mostCount {
		return 0, 0, fmt.Errorf("%.40q is no count of frames, such as 1200, or a share, such as 36%%", fields[1])
	}
	return size, count, nil
}

// Mean is the mean size of a frame in bytes.
func (s Summary) Mean() float64 {
	var bytes float64
	for size, count := range s.Sizes {
		bytes += float64(size) * count
	}
	return bytes / s.Frames
}

// Entry is a size of a mix, and its weight.
type Entry struct {
	Size   units.FrameSize
	Weight int64
}

// The most that a LoadTest's mix has (api/v1alpha1).
const (
	MostEntries = 16
	mostWeight  = 1000
)

// Mix is a mix like the summary, of at most MostEntries sizes. Exact says that its proportions are the summary's.
func (s Summary) Mix() (mix []Entry, exact bool) {
	groups := s.groups()
	exact = len(groups) == len(s.Sizes)
	counts := make([]int64, len(groups))
	whole, largest := true, 0.0
	for i, g := range groups {
		counts[i], largest = int64(g.count), max(largest, g.count)
		whole = whole && g.count == math.Trunc(g.count)
	}
	divisor := commonDivisor(counts)
	for i, g := range groups {
		weight := int64(0)
		if whole && divisor > 0 && int64(largest)/divisor <= mostWeight {
			weight = counts[i] / divisor
		} else {
			weight = max(1, int64(math.Round(g.count/largest*mostWeight)))
			exact = exact && float64(weight)*largest == g.count*mostWeight
		}
		mix = append(mix, Entry{g.size(), weight})
	}
	return mix, exact
}

func commonDivisor(values []int64) (divisor int64) {
	for _, v := range values {
		for v != 0 {
			divisor, v = v, divisor%v
		}
	}
	return divisor
}

// group are neighbouring sizes that become one.
type group struct{ count, bytes float64 }

// size is the frames' mean.
func (g group) size() units.FrameSize {
	return units.FrameSize(math.Round(g.bytes / g.count))
}

// loss is what joining two groups costs: how far their frames' sizes then are from their own, squared (Ward).
func loss(a, b group) float64 {
	distance := a.bytes/a.count - b.bytes/b.count
	return a.count * b.count / (a.count + b.count) * distance * distance
}

// groups are the sizes in order. Of more than MostEntries, those neighbours are joined that cost the least.
func (s Summary) groups() []group {
	var groups []group
	for _, size := range slices.Sorted(maps.Keys(s.Sizes)) {
		groups = append(groups, group{s.Sizes[size], s.Sizes[size] * float64(size)})
	}
	for len(groups) > MostEntries {
		best := 0
		for i := range len(groups) - 1 {
			if loss(groups[i], groups[i+1]) < loss(groups[best], groups[best+1]) {
				best = i
			}
		}
		groups[best] = group{groups[best].count + groups[best+1].count, groups[best].bytes + groups[best+1].bytes}
		groups = slices.Delete(groups, best+1, best+2)
	}
	return groups
}
