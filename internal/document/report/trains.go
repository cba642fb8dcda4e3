package report

// Trains are groups of frames that a direction sent back to back, in a window of phase Train alone, and how they came
// back. Times are whole nanoseconds by the generators' clocks.
//
//	sent  ▐▐▐▐▐▐▐▐                ▐▐▐▐▐▐▐▐         a train, a pause, a train
//	came    ▐   ▐   ▐   ▐   ▐       ▐   ▐   ▐      the spacing is what the device takes for a frame
type Trains struct {
	// Count is how many trains were sent, and Frames how many frames each had.
	Count  int `json:"count"`
	Frames int `json:"frames"`
	// LostFrames are frames that did not come back. Lossy is how many trains missed some, and Broken how many came whole
	// and in another order. Both are left out below.
	LostFrames int64 `json:"lostFrames,omitempty"`
	Lossy      int   `json:"lossy,omitempty"`
	Broken     int   `json:"broken,omitempty"`
	// First is the frame, counted from 0, from which Spans go to a train's last frame.
	First int `json:"first"`
	// Spans has for each whole train, in order, the time from frame First to the last one at their arrival. Sendings
	// has the time from the first frame to the last one at their departure, 0 where that is unknown.
	Spans    []int64 `json:"spans,omitempty"`
	Sendings []int64 `json:"sendings,omitempty"`
	// Arrivals are the arrivals of one typical train's frames, after its first.
	Arrivals []int64 `json:"arrivals,omitempty"`
}
