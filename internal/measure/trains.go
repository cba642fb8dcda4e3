package measure

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/trains"
)

// OfTrains says that a window, or an answer, is of trains of frames, and of no load.
func OfTrains(directions []report.Direction) bool {
	return slices.ContainsFunc(directions, func(d report.Direction) bool { return d.Trains != nil })
}

// TrainsWindow is what the trains of the direction that varied show. The other directions sent nothing.
func (s Setup) TrainsWindow(varied string, t report.Trains) report.Window {
	w := report.Window{Varied: varied, GeneratorCPUPercent: -1}
	for _, d := range s.Directions {
		m := report.Direction{From: d.From, To: d.To}
		if m.Name() == varied {
			m.Trains = &t
		}
		w.Directions = append(w.Directions, m)
	}
	return recountTrains(w)
}

// recountTrains judges a window of trains by their arrivals.
func recountTrains(w report.Window) report.Window {
	for i := range w.Directions {
		m := &w.Directions[i]
		if m.Trains == nil {
			m.Quality, m.Reason = report.Unjudged, "nothing was sent here while "+w.Varied+" sent trains"
			continue
		}
		spacing, fault := trains.SpacingOf(*m.Trains)
		if m.Quality, m.Reason = report.Invalid, fault; fault == "" {
			m.Quality, m.Reason = report.Good, trainsSentence(*m.Trains, spacing)
		}
	}
	w.Quality, w.Reason = Worst(w.Directions)
	return w
}

// trainsSentence is what a set-up's trains show.
func trainsSentence(t report.Trains, s trains.Spacing) string {
	sign, pace := "", ""
	switch {
	case s.Untimed:
		sign, pace = "at most ", ", and how fast they left is not known"
	case s.Bound:
		sign, pace = "at most ", ", and they left no faster"
	}
	return fmt.Sprintf("frames came %s%s apart, in %d of %d trains of %d frames%s", sign, trains.Text(s.Nanoseconds),
		len(t.Spacings), t.Count, t.Frames, pace)
}
