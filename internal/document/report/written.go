package report

import (
	"bytes"
	"encoding/json"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// Sessions count no frames, and a document says nothing of what was not counted, because a zero would be a figure.
// So these types leave the members of frames out where traffic is sessions, and write all of them, zero or not,
// where it is frames.

// MarshalJSON writes the members of frames, of trains, or of sessions.
func (m Direction) MarshalJSON() ([]byte, error) {
	type frames Direction
	if m.Trains != nil {
		return written(struct {
			From    string      `json:"from"`
			To      string      `json:"to"`
			Quality Quality     `json:"quality"`
			Reason  string      `json:"reason"`
			Trains  *Trains     `json:"trains"`
			Own     []OwnFigure `json:"own,omitempty"`
		}{m.From, m.To, m.Quality, m.Reason, m.Trains, m.Own})
	}
	if m.Sessions == nil {
		return written(frames(m))
	}
	return written(struct {
		From     string    `json:"from"`
		To       string    `json:"to"`
		Quality  Quality   `json:"quality"`
		Reason   string    `json:"reason"`
		Sessions *Sessions `json:"sessions"`
	}{m.From, m.To, m.Quality, m.Reason, m.Sessions})
}

// MarshalJSON writes the members of TCP's connections, or of UDP's streams.
func (s Sessions) MarshalJSON() ([]byte, error) {
	type connections Sessions
	if s.Datagrams == nil {
		return written(connections(s))
	}
	return written(struct {
		Connections          int           `json:"connections"`
		AskedBitsPerSecond   int64         `json:"askedBitsPerSecond"`
		Datagrams            *Datagrams    `json:"datagrams"`
		WrittenBytes         int64         `json:"writtenBytes"`
		SentBytes            int64         `json:"sentBytes"`
		SentIn               plan.Duration `json:"sentIn"`
		ReceivedBytes        int64         `json:"receivedBytes"`
		ReceivedIn           plan.Duration `json:"receivedIn"`
		GoodputBitsPerSecond int64         `json:"goodputBitsPerSecond"`
		Ends                 *SessionEnds  `json:"ends,omitempty"`
		EndsWaited           plan.Duration `json:"endsWaited,omitempty"`
		Disturbed            plan.Duration `json:"disturbed,omitempty"`
		Disturbance          *Disturbance  `json:"disturbance,omitempty"`
	}{s.Connections, s.AskedBitsPerSecond, s.Datagrams, s.WrittenBytes, s.SentBytes, s.SentIn, s.ReceivedBytes,
		s.ReceivedIn, s.GoodputBitsPerSecond, s.Ends, s.EndsWaited, s.Disturbed, s.Disturbance})
}

// MarshalJSON writes the members of frames, or of sessions.
func (s SampleDirection) MarshalJSON() ([]byte, error) {
	type frames SampleDirection
	if s.Sessions == nil {
		return written(frames(s))
	}
	return written(struct {
		Sessions *SessionsSoFar `json:"sessions"`
	}{s.Sessions})
}

// MarshalJSON writes the members of frames, or of sessions.
func (s Sum) MarshalJSON() ([]byte, error) {
	type frames Sum
	if s.Sessions == nil {
		return written(frames(s))
	}
	return written(struct {
		Window   int       `json:"window"`
		Sessions *Sessions `json:"sessions"`
	}{s.Window, s.Sessions})
}

// MarshalJSON writes the members of frames, or of sessions.
func (f Figures) MarshalJSON() ([]byte, error) {
	type frames Figures
	if f.OfTrains() {
		return written(struct {
			Runs                int     `json:"runs"`
			PicosecondsPerFrame *int64  `json:"picosecondsPerFrame"`
			LowerBound          bool    `json:"lowerBound,omitempty"`
			Unconfirmed         int     `json:"unconfirmed,omitempty"`
			Spread              *Spread `json:"spread,omitempty"`
		}{f.Runs, f.PicosecondsPerFrame, f.LowerBound, f.Unconfirmed, f.Spread})
	}
	if !f.OfSessions() {
		return written(frames(f))
	}
	return written(struct {
		Runs                 int     `json:"runs"`
		GoodputBitsPerSecond *int64  `json:"goodputBitsPerSecond"`
		LowerBound           bool    `json:"lowerBound,omitempty"`
		Unconfirmed          int     `json:"unconfirmed,omitempty"`
		Spread               *Spread `json:"spread,omitempty"`
	}{f.Runs, f.GoodputBitsPerSecond, f.LowerBound, f.Unconfirmed, f.Spread})
}

// MarshalJSON writes the members of frames, or of sessions.
func (s Spread) MarshalJSON() ([]byte, error) {
	type frames Spread
	if s.HighPicosecondsPerFrame != nil {
		return written(struct {
			Percent                 units.Percent `json:"percent"`
			LowPicosecondsPerFrame  *int64        `json:"lowPicosecondsPerFrame"`
			HighPicosecondsPerFrame *int64        `json:"highPicosecondsPerFrame"`
			Confidence              units.Percent `json:"confidencePercent,omitempty"`
		}{s.Percent, s.LowPicosecondsPerFrame, s.HighPicosecondsPerFrame, s.Confidence})
	}
	if s.HighGoodputBitsPerSecond == nil {
		return written(frames(s))
	}
	return written(struct {
		Percent                  units.Percent `json:"percent"`
		LowGoodputBitsPerSecond  *int64        `json:"lowGoodputBitsPerSecond"`
		HighGoodputBitsPerSecond *int64        `json:"highGoodputBitsPerSecond"`
		Confidence               units.Percent `json:"confidencePercent,omitempty"`
	}{s.Percent, s.LowGoodputBitsPerSecond, s.HighGoodputBitsPerSecond, s.Confidence})
}

// written is a value as JSON that leaves it to the writer of the document whether < and > are escaped, as
// json.Marshal would escape them for good.
func written(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}
