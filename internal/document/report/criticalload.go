package report

import "github.com/linerate-dev/linerate/internal/units"

// CriticalLoad is what the trials of a Soak show of a direction, which is the load at which it loses LossRatio of
// its frames on average, in packets per second that are offered to it.
type CriticalLoad struct {
	LossRatio units.Ratio `json:"lossRatio"`
	// PacketsPerSecond and Deviation are mean and standard deviation over the curves of all shapes, each shape
	// weighing the same. They are empty where an end of the interval is not known.
	PacketsPerSecond Number `json:"packetsPerSecond,omitempty"`
	Deviation        Number `json:"deviation,omitempty"`
	// Low and High are where it lies with at least 95 % for each of the shapes. Low is 0 where it may be less than
	// any load that was asked for. High is empty where no load that was offered is known to be above it. Both are
	// empty where the trials show nothing of it.
	Low  Number `json:"low,omitempty"`
	High Number `json:"high,omitempty"`
	// Shapes are what curves of each shape make of the trials.
	Shapes []CriticalLoadOfShape `json:"shapes,omitempty"`
	// Trials is how many counted, with what they sent and lost. Below and LostBelow is what of that was sent at
	// loads up to High.
	Trials    int   `json:"trials"`
	Sent      int64 `json:"sent"`
	Lost      int64 `json:"lost"`
	Below     int64 `json:"below,omitempty"`
	LostBelow int64 `json:"lostBelow,omitempty"`
	// Doubtful is how many of the frames in Lost the device may not have lost, as others had the machine, or the
	// generator sent in bursts, or background traffic may hide them. High is reckoned without them.
	Doubtful int64 `json:"doubtful,omitempty"`
	// Extrapolated says that so few frames were sent at loads up to High that their loss by itself would not show
	// LossRatio, so the answer rests on the shapes.
	Extrapolated bool `json:"extrapolated,omitempty"`
}

// CriticalLoadOfShape is the critical load if the loss ratio follows curves of one shape.
type CriticalLoadOfShape struct {
	Shape            string `json:"shape"` // stretch or erf
	PacketsPerSecond Number `json:"packetsPerSecond"`
	Deviation        Number `json:"deviation"`
	Low              Number `json:"low"`
	High             Number `json:"high"`
	// Capacity and Spread are those of the curve that fits best, in packets per second.
	Capacity Number `json:"capacity"`
	Spread   Number `json:"spread"`
}
