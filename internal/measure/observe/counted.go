package observe

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// counted is the rate of a counter of a source over the network. Sources keep a number for a while before they take
// it anew, so only readings with a known time count.
//
//	the source takes it     │       │       │       │       │        and tells the same until the next time
//	it is asked         ?  ??│?  ?  ??│?  ?  ??│?
//	a reading was taken within ├┤      ├┤      ├┤                     between a question with the old number and one with the new
//	its rate                    └─ Δ value ─────┘ ÷ Δ time, which may be longer or shorter by both stretches
func (s *series) counted(o plan.Observer, start, end time.Duration) report.Observed {
	observed := report.Observed{Series: s.Name, Subject: s.Subject, Unit: s.Unit + "/s"}
	numbers := s.wholly(o, start, end)
	if observed.Missing = s.beganAnew(numbers); observed.Missing != "" {
		return observed
	}
	dated := s.dated(numbers)
	switch shortest := (end - start) / leastShare; {
	case s.distance(dated) >= shortest && s.distance(dated) > 0:
		s.rateOf(&observed, dated, shortest)
	case s.distance(numbers) < shortest || s.distance(numbers) == 0:
		observed.Missing = tooFew(o, s.samples(numbers), end-start)
	case s.Samples[numbers[0]].Value != s.Samples[numbers[len(numbers)-1]].Value:
		observed.Missing = fmt.Sprintf("the source takes the number anew too seldom to know when it did: readings of the window of %s of which that is known are less than half of it apart; hold the load for longer", (end - start).Round(time.Millisecond))
	case s.keptFor(numbers) > (end-start)/leastShare:
		observed.Missing = fmt.Sprintf("it is the same number all through the window, and the source may keep a number for %s: hold the load for longer", s.keptFor(numbers).Round(time.Millisecond))
	default:
		observed.Mean, observed.Over = new(0.0), s.Samples[numbers[len(numbers)-1]].Time-s.Samples[numbers[0]].Time
	}
	return observed
}

// dated are the readings with a known time.
func (s *series) dated(readings []int) []int {
	return slices.DeleteFunc(slices.Clone(readings), func(i int) bool { return !s.asked[i].dated })
}

// beganAnew says why readings of a window, or the one before them and the first, can't be compared. It is empty
// where they can.
func (s *series) beganAnew(numbers []int) string {
	if len(numbers) == 0 {
		return ""
	}
	first, last := max(0, numbers[0]-1), numbers[len(numbers)-1]
	if s.asked[first].epoch != s.asked[last].epoch {
		return s.asked[last].anew
	}
	if wentBack(s.Samples[first : last+1]) {
		return "the counter went back: it was cleared, or what counts was restarted"
	}
	return ""
}

// distance is the time from the first of these readings to the last.
func (s *series) distance(numbers []int) time.Duration {
	if len(numbers) == 0 {
		return 0
	}
	return (s.Samples[numbers[len(numbers)-1]].Time - s.Samples[numbers[0]].Time).Std()
}

// rateOf is the rate between the two readings that make it surest, of all pairs that are no less apart than this.
func (s *series) rateOf(observed *report.Observed, numbers []int, shortest time.Duration) {
	best := s.surest(numbers, shortest)
	if len(best) == 0 {
		observed.Missing = "it took as long to answer as the window lasts"
		return
	}
	mean, unsure := s.slope(best)
	// A source may date a number that it has from another source. The readings at which the number itself changed
	// show that.
	if news := s.surest(slices.DeleteFunc(slices.Clone(numbers),
		func(i int) bool { return i == 0 || s.Samples[i].Value == s.Samples[i-1].Value }),
		shortest/leastShare); len(news) > 0 {
		slope, doubt := s.slope(news)
		unsure = max(unsure, math.Abs(slope-mean)-doubt)
	}
	observed.Mean, observed.Unsure, observed.Over = &mean, unsure, plan.Duration(s.distance(best))
}

// surest are the two of these readings, no less apart than this, whose distance in time is known best, as a share
// of it. There are none where no distance is known at all.
func (s *series) surest(numbers []int, shortest time.Duration) (pair []int) {
	sure := 1.0
	for i, first := range numbers {
		for _, second := range numbers[i+1:] {
			distance := s.distance([]int{first, second})
			if doubt := float64(s.doubts[first]+s.doubts[second]) / float64(distance); distance >= shortest &&
				doubt < sure {
				pair, sure = []int{first, second}, doubt
			}
		}
	}
	return pair
}

// slope is a counter's rate from the first of these readings to the last, and by how much it may be off, as each
// was taken at some moment of a stretch.
func (s *series) slope(numbers []int) (mean, unsure float64) {
	first, last := numbers[0], numbers[len(numbers)-1]
	grown, long := s.Samples[last].Value-s.Samples[first].Value, s.clocks[last]-s.clocks[first]
	mean = grown / long.Seconds()
	return mean, grown/(long-s.doubts[first]-s.doubts[last]).Seconds() - mean
}

// keeps is for how long a counter's source keeps a number at most, by all readings before a sample. It is no longer
// than the time between two numbers that the source told. ok says that there were two.
func (s *series) keeps(edge int) (longest time.Duration, ok bool) {
	latest := 0
	for i := 1; i <= edge; i++ {
		if s.Samples[i].Value == s.Samples[i-1].Value || s.asked[i].epoch != s.asked[i-1].epoch {
			continue
		}
		if latest > 0 && s.asked[i].epoch == s.asked[latest].epoch {
			distance := s.clocks[i] + s.doubts[i] - s.clocks[latest] + s.doubts[latest]
			if !ok || distance < longest {
				longest, ok = distance, true
			}
		}
		latest = i
	}
	return longest, ok
}

// keptFor is keeps by the readings until these, or 0 where nothing is known.
func (s *series) keptFor(readings []int) time.Duration {
	period, _ := s.keeps(readings[0])
	return period
}

// stood says by how much an asked series changed next, where it was the same number all through a window, since
// before it. Its source may have told an old number, which may have changed at any time in between. It is 0 where
// the number didn't stay, or the time of the number is known.
func (s *series) stood(o plan.Observer, start, end time.Duration) float64 {
	numbers := s.wholly(o, start, end)
	if len(numbers) == 0 || s.distance(s.dated(numbers)) >= (end-start)/leastShare {
		return 0
	}
	first, last := numbers[0], numbers[len(numbers)-1]
	unchanged := func(i int) bool { return s.Samples[i].Value == s.Samples[first].Value }
	for i := max(0, first-1); i <= last; i++ {
		if !unchanged(i) {
			return 0
		}
	}
	next := last + 1
	for next < len(s.Samples) && unchanged(next) {
		next++
	}
	if next == len(s.Samples) || s.asked[next].epoch != s.asked[first].epoch {
		return 0
	}
	if period, ok := s.keeps(len(s.Samples) - 1); ok && s.Kind == report.Counter &&
		s.Samples[next-1].Time.Std()-s.doubts[next-1]-period >= end {
		return 0 // it was the same after the window, too
	}
	return math.Abs(s.Samples[next].Value - s.Samples[first].Value)
}
