package report

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Collected is what a collection of the Plan gave at one time. The content isn't in the Report, but beside it, by its
// digest.
type Collected struct {
	Name string `json:"name"`
	When string `json:"when"` // plan.CollectBefore, plan.CollectDuring, plan.CollectAfter
	// Path is the file that was read. It is empty where a command ran.
	Path string `json:"path,omitempty"`
	// Time is when it began, and Duration how long it took.
	Time     time.Time     `json:"time"`
	Duration plan.Duration `json:"duration"`
	// Bytes and SHA256 are the content's. Cut says that there was more, which wasn't kept.
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
	Cut    bool   `json:"cut,omitempty"`
	// Missing is why there is no content, or what went wrong beside it. It is empty where all went well.
	Missing string `json:"missing,omitempty"`
}

// String says what there is, in a few words.
func (c Collected) String() string {
	text := c.When
	if c.Path != "" {
		text += " " + c.Path
	}
	if c.SHA256 != "" {
		text += fmt.Sprintf(": %s, %.19s…", wording.Counted(int(c.Bytes), "byte"), c.SHA256)
	}
	if c.Cut {
		text += ", cut"
	}
	if c.Missing != "" {
		text += ": " + c.Missing
	}
	return text
}
