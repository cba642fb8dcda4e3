package ramp

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// withdrawSaturation takes back a saturation that was marked in the staircase, because the same load is clean now. What the staircase saw above counts as before; without another run of lossy
// windows there, the climb goes on where it was broken off.
func (m *machine) withdrawSaturation(p point) {
	m.resumed++
	reason := fmt.Sprintf("%s of the target is clean now, so the loss there had a cause that has passed", percent(p.asked))
	for i := range m.points {
		q := &m.points[i]
		q.withdrawn = q.withdrawn || q.lossy && q.asked >= p.asked && q.window < m.first.window+lossyRun
	}
	m.unclear = false
	m.hi, m.first, m.estimate, m.ceiling, m.runs = nil, nil, 0, 0, map[int][]int{}
	m.rescan()
	switch {
	case m.hi != nil:
		m.reason = reason + "; " + m.saturationSentence()
	case m.level < m.steps:
		m.level++
		m.stage, m.repeats = climbing, 0
		m.reason = reason + "; the climb goes on"
	default:
		m.reason = reason
	}
}

// rescan looks for the first run of lossy windows among the staircase's windows that still count.
func (m *machine) rescan() {
	all := m.points
	m.points = nil
	for _, p := range all {
		m.points = append(m.points, p)
		if m.history[p.window].Phase == report.Ramping && !p.withdrawn {
			m.countRuns()
		}
	}
}

// bisectionsLeft is how many windows of the search are probably still to come.
func (m *machine) bisectionsLeft() int {
	if m.Ramp.RefineTo <= 0 || m.stage == finished {
		return 0
	}
	w := units.One / units.Ratio(min(m.steps, 20))
	if lo := m.lo(); m.hi != nil {
		if w = units.One; lo != nil {
			w = width(lo.asked, m.ceiling)
		}
	}
	n := 0
	for ; w > m.Ramp.RefineTo; w /= 2 {
		n++
	}
	return min(n, usualLooks)
}

// usualLooks is how many loads the search usually tries.
const usualLooks = 3

func (m *machine) confirmLeft() time.Duration {
	if m.confirmed != nil {
		return 0
	}
	left := 1
	if m.long > 0 {
		left = m.votes.left()
	}
	return time.Duration(left) * (m.Ramp.Settle.Std() + m.Ramp.ConfirmDuration.Std())
}
