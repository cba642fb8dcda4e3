package backtoback

import (
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
)

// Interval is a figure of bursts.
type Interval = interval

// Shown is what the windows show of each direction's bursts, beyond what the answer's figures have.
func Shown(b BackToBack, history []report.Window) (shown []*bursts) {
	replayed := b.replay(history)
	if replayed.trial == procedure.NoWindow {
		return nil
	}
	for _, s := range replayed.sides {
		shown = append(shown, b.frames(s, history[replayed.trial]))
	}
	return shown
}
