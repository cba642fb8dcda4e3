package soak

import "github.com/linerate-dev/linerate/internal/document/report"

// CriticalLoads is what the windows show of each direction, beyond what the answer's estimates have.
func CriticalLoads(s Soak, history []report.Window) (loads []*criticalLoad) {
	for _, d := range s.directionsOf(s.replay(history).trials) {
		loads = append(loads, d.criticalLoad())
	}
	return loads
}
