package procedure

import (
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// The bounds of SettleAfterTrials.
const (
	leastSettle = 300 * time.Millisecond
	MostSettle  = 5 * time.Second
)

// SettleAfterTrials is how long a load that is held after trials settles before it is judged. That is longer than the
// frames of any trial were under way, which a trial waits for beyond its duration.
func SettleAfterTrials(trials []report.Window) time.Duration {
	settle := leastSettle
	for _, w := range trials {
		settle = max(settle, w.Took.Std()-w.Duration.Std())
	}
	return min(settle, MostSettle).Round(100 * time.Millisecond)
}
