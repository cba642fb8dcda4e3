package measure

const (
	// LeastSent is how many frames must be sent in a stretch of time for it to show anything of the device.
	LeastSent = 20
	// SilentShare is the share, one in so many, of what is sent or comes at best that may come back of an outage,
	// as frames of others do.
	SilentShare = 1000
)

// IsSilent says that of so many frames that were sent nothing came back, but for a few frames of others. best is
// how many come back in as much time at best.
func IsSilent(sent, came int64, best float64) bool {
	return sent >= LeastSent && !Hears(sent, came, best)
}

// Hears says that more than a few frames of others came back, of what was sent now or before. best is how many come
// back in as much time at best.
func Hears(sent, came int64, best float64) bool {
	highest := best
	if sent > 0 {
		highest = min(highest, float64(sent))
	}
	return float64(came*SilentShare) > highest
}
