package procedure

import "github.com/linerate-dev/linerate/internal/document/report"

// TimePerFrame is the metric that trains of frames show of a direction.
const TimePerFrame report.Metric = "TimePerFrame"

// The metrics that bursts show of a direction (RFC 9004).
const (
	BackToBackFrames   report.Metric = "BackToBackFrames"
	BufferFrames       report.Metric = "BufferFrames"
	BufferMicroseconds report.Metric = "BufferMicroseconds"
)
