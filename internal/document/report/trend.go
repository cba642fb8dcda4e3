package report

import (
	"io"
	"time"
)

// TrendVersion is the kind and version of a Trend as JSON.
const TrendVersion = "linerate.dev/trend.v1alpha1"

// Trend is what was measured over time, a series for each product and loadtest.
type Trend struct {
	Version string `json:"version"`
	Title   string `json:"title,omitempty"`
	// Answer is the first two lines. It is empty before the document is written in a format.
	Answer Lines    `json:"answer,omitzero"`
	Series []Series `json:"series"`
	Notes  []string `json:"notes,omitempty"`
}

// Series is one product under one loadtest over time.
type Series struct {
	Product  string `json:"product"`
	Loadtest string `json:"loadtest"`
	// Points are in the order of time.
	Points []Point `json:"points"`
	// Stretches are the parts of it in which neither the way of measuring nor, as far as a Plan shows, the device
	// changed, in the order of time. They cover all points.
	Stretches []Stretch `json:"stretches"`
}

// Point is one run.
type Point struct {
	// Name is where its Report is kept, Test the test's name.
	Name      string    `json:"name"`
	Test      string    `json:"test"`
	StartTime time.Time `json:"startTime"` // when it began
	// Figures are the run's own. They are nil where it was not measured, and Missing says why.
	Figures *Figures `json:"figures,omitempty"`
	Missing *Missing `json:"missing,omitempty"`
	// Latency are its figures of latency.
	Latency []Figure `json:"latency,omitempty"`
	// FromMedian is how far the figures lie from the median of their Stretch, or nil where unknown. Readers of the
	// document have both figures, and their signs.
	FromMedian *Change `json:"-"`
	// SharedPort says that several ends of its links were on one physical port.
	SharedPort bool `json:"sharedPort,omitempty"`
	// Outlier says that it lies far from its neighbours.
	Outlier bool `json:"outlier,omitempty"`
	// PlanChange is how its Plan measures in another way than the point before, or at another line rate.
	// DeviceChange is how the device differs, as far as a Plan shows.
	PlanChange   []string `json:"planChange,omitempty"`
	DeviceChange []string `json:"deviceChange,omitempty"`
	// ImageChange is how the images of the device's pod differ from the point before. No new Stretch begins there,
	// as a series follows the builds of a device.
	ImageChange []string `json:"imageChange,omitempty"`
	// EnvironmentChange is what differs from the point before in the environment, such as other network cards or
	// another node. Where a part differs that is not allowed to, a new Stretch begins.
	EnvironmentChange []EnvironmentDifference `json:"environmentChange,omitempty"`
	Producer          string                  `json:"producer,omitempty"`
}

// Stretch is a part of a series in which all Plans measure in the same way.
type Stretch struct {
	// First and Last are indices of its points.
	First int `json:"first"`
	Last  int `json:"last"`
	// Method is that of its Plans.
	Method string `json:"method"`
	// Figures are the medians of its runs, or nil where none was measured.
	Figures *Figures `json:"figures,omitempty"`
	// Latency are the medians of how long frames were under way at each load.
	Latency []LatencyMedian `json:"latency,omitempty"`
}

// StretchOf is the stretch of a point, or nil where none has it.
func (s *Series) StretchOf(point int) *Stretch {
	for i := range s.Stretches {
		if t := &s.Stretches[i]; t.First <= point && point <= t.Last {
			return t
		}
	}
	return nil
}

// Latest is the last point that was measured, or nil for none.
func (s *Series) Latest() (*Point, *Stretch) {
	for i := len(s.Points) - 1; i >= 0; i-- {
		if s.Points[i].Figures != nil {
			return &s.Points[i], s.StretchOf(i)
		}
	}
	return nil, nil
}

// JSON writes the trend as a document, indented.
func (t *Trend) JSON(w io.Writer) error {
	copied := *t
	copied.Version = TrendVersion
	return writeDocument(w, &copied)
}
