package report

import (
	"io"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// RFC2544Version is the kind and version of an RFC2544 as JSON.
const RFC2544Version = "linerate.dev/rfc2544.v1alpha1"

// RFC2544 is what Reports show in the forms that RFC 2544, section 26, asks for, which are throughput over frame
// sizes beside what the media carries, and frame loss over the share of that. Latency, which it asks for too, isn't
// measured.
type RFC2544 struct {
	Version    string            `json:"version"`
	Throughput []ThroughputPoint `json:"throughput,omitempty"` // section 26.1
	Loss       []FrameLossPoint  `json:"frameLoss,omitempty"`  // section 26.3
	// Missing are the Reports that have neither, with why.
	Missing []Missing `json:"missing,omitempty"`
	// Reports are what all of it is of, and pages tell their conditions.
	Reports []*Report `json:"-"`
}

// Stream is what a point of RFC2544 is of, a direction, with frames of one size, on media of one rate.
type Stream struct {
	Product   string `json:"product"`
	Loadtest  string `json:"loadtest"`
	Test      string `json:"test"`
	Direction string `json:"direction"` // "west→east"
	// FrameBytes is how long frames are, FCS included. Of several sizes it is their average, and Mixed is set.
	FrameBytes Number `json:"frameBytes"`
	Mixed      bool   `json:"mixed,omitempty"`
	// Protocol is what frames carry, such as "UDP over IPv4". It is empty where that isn't known.
	Protocol string `json:"protocol,omitempty"`
	// LineRate is that of the slower of the direction's two links, TheoreticalPacketsPerSecond how many such frames
	// it carries, preamble and inter-frame gap included.
	LineRate                    units.BitRate `json:"lineRateBitsPerSecond"`
	TheoreticalPacketsPerSecond int64         `json:"theoreticalPacketsPerSecond"`
	// TrialDuration is how long the trials last that decide.
	TrialDuration plan.Duration `json:"trialDuration"`
}

// ThroughputPoint is the highest rate at which no more was lost than is allowed.
type ThroughputPoint struct {
	Stream Stream `json:"stream"`
	// Goal is the goal of a search, where the procedure has several. LossAllowed is the share of frames that may be
	// lost. RFC 2544's throughput allows none.
	Goal        string      `json:"goal,omitempty"`
	LossAllowed units.Ratio `json:"lossAllowed"`
	Offered     Flow        `json:"offered"`
	Received    Flow        `json:"received"`
	LossRatio   units.Ratio `json:"lossRatio"`
	// TheoreticalPercent is what was received as a share of TheoreticalPacketsPerSecond.
	TheoreticalPercent units.Percent `json:"theoreticalPercent"`
	// LowerBound says that the device's limit lies there or above, and Unconfirmed that it wasn't held as long as
	// was asked for.
	LowerBound  bool   `json:"lowerBound,omitempty"`
	Unconfirmed bool   `json:"unconfirmed,omitempty"`
	Reason      Reason `json:"reason"`
}

// FrameLossPoint is what was lost of one load.
type FrameLossPoint struct {
	Stream Stream `json:"stream"`
	// InputPercent is what was offered as a share of TheoreticalPacketsPerSecond.
	InputPercent units.Percent `json:"inputPercent"`
	Offered      Number        `json:"offeredPacketsPerSecond"`
	Received     Number        `json:"receivedPacketsPerSecond"`
	// LossRatio is the most that may have been lost, LossRatioMin what surely was.
	LossRatio    Number `json:"lossRatio"`
	LossRatioMin Number `json:"lossRatioMin"`
}

// JSON writes it as one document.
func (b *RFC2544) JSON(w io.Writer) error {
	copied := *b
	copied.Version = RFC2544Version
	return writeDocument(w, &copied)
}
