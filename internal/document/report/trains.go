package report

import (
	"fmt"
	"strconv"
	"strings"
)

// Trains are groups of frames that a direction sent back to back, in a window of phase Train alone, and how they came
// back. Times are by the generators' clocks.
//
//	sent  ▐▐▐▐▐▐▐▐                ▐▐▐▐▐▐▐▐         a train, a pause, a train
//	came    ▐   ▐   ▐   ▐   ▐       ▐   ▐   ▐      the spacing is what the device takes for a frame
type Trains struct {
	// Count is how many trains were sent, and Frames how many frames each had.
	Count  int `json:"count"`
	Frames int `json:"frames"`
	// LostFrames are frames that did not come back. Lossy is how many trains missed some, Broken how many came whole
	// and in another order, and Undivided how many the device passed on in so few parts that their frames have no
	// spacing. None of these is among those below.
	LostFrames int64 `json:"lostFrames,omitempty"`
	Lossy      int   `json:"lossy,omitempty"`
	Broken     int   `json:"broken,omitempty"`
	Undivided  int   `json:"undivided,omitempty"`
	// Spacings has for each other train, in order, the time between two frames at their arrival, in picoseconds.
	// Sendings has the time from its first frame to its last one at their departure, in nanoseconds, 0 where unknown.
	Spacings Integers `json:"spacings,omitempty"`
	Sendings Integers `json:"sendings,omitempty"`
	// Arrivals are the arrivals of one typical train's frames, in nanoseconds after its first.
	Arrivals Integers `json:"arrivals,omitempty"`
}

// Integers are many numbers, written as one text, "120320 120322".
type Integers []int64

// mostIntegers bounds what one text may fill memory with.
const mostIntegers = 4096

// MarshalText writes the numbers with a space between.
func (n Integers) MarshalText() ([]byte, error) {
	var text []byte
	for i, v := range n {
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendInt(text, v, 10)
	}
	return text, nil
}

// UnmarshalText reads what MarshalText writes.
func (n *Integers) UnmarshalText(text []byte) error {
	*n = nil
	if len(text) == 0 {
		return nil
	}
	if count := strings.Count(string(text), " ") + 1; count > mostIntegers {
		return fmt.Errorf("%d numbers in a text, and %d is the most", count, mostIntegers)
	}
	for part := range strings.SplitSeq(string(text), " ") {
		v, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return fmt.Errorf("numbers are whole, with a space between: %w", err)
		}
		*n = append(*n, v)
	}
	return nil
}
