package report

import "slices"

// OwnFigure is a figure that a procedure finds of a direction beside its rates, such as the longest burst without loss.
// Low and High are as in Figure. Low is empty where there is none, and Missing says why then.
type OwnFigure struct {
	Metric  Metric `json:"metric"`
	Low     Number `json:"low,omitempty"`
	High    Number `json:"high,omitempty"`
	Missing string `json:"missing,omitempty"`
	// OfLoss says that Low rests on lost frames too, so that near the generators' own limit it is no claim about the
	// device. High always does.
	OfLoss bool `json:"ofLoss,omitempty"`
}

// OwnFigure is the direction's own figure of a metric. It returns false where the procedure finds none.
func (m Direction) OwnFigure(metric Metric) (OwnFigure, bool) {
	i := slices.IndexFunc(m.Own, func(f OwnFigure) bool { return f.Metric == metric })
	if i < 0 {
		return OwnFigure{}, false
	}
	return m.Own[i], true
}
