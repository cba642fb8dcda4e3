package main

import (
	"fmt"
	"time"
)

const (
	// stretch is how long a measurement's window is, roughly: what was taken of one is what it is wrong by.
	stretch = 2
	// muchStolen of all processors in a stretch is more than a calm machine ever takes.
	muchStolen = 0.05
	// muchLate is a beat that no real-time thread has on a machine that runs it: a generator's frames came as late.
	muchLate = 20 * time.Millisecond
	// calmFor is how long a calm machine has been calm, and calmWithin how long one is waited for.
	calmFor, calmWithin = 10 * time.Second, 3 * time.Minute
)

// taken is what a machine took from those who ran on it.
type taken struct {
	seconds  int
	share    float64       // of all processors' time, by the host
	worst    float64       // that share in the worst stretch
	latest   time.Duration // the latest beat's lateness
	realTime bool          // else lateness says nothing of the machine
}

func sum(seconds []second, processors int, realTime bool) taken {
	t := taken{seconds: len(seconds), realTime: realTime}
	all := time.Duration(0)
	for i, s := range seconds {
		all += s.stolen
		t.latest = max(t.latest, s.latest)
		in := time.Duration(0)
		for _, s := range seconds[max(0, i+1-stretch) : i+1] {
			in += s.stolen
		}
		t.worst = max(t.worst, in.Seconds()/float64(stretch*processors))
	}
	if len(seconds) > 0 {
		t.share = all.Seconds() / float64(len(seconds)*processors)
	}
	return t
}

// muchOf says whether that was so much that who measured may have had too little.
func (t taken) muchOf() bool {
	return t.worst >= muchStolen || t.realTime && t.latest >= muchLate
}

func (t taken) String() string {
	said := fmt.Sprintf("the machine took %.1f %% of its processors away in %d s, %.1f %% in the worst %d s", 100*t.share, t.seconds, 100*t.worst, stretch)
	if !t.realTime {
		return said + " (how late it runs whom it should is seen by root only)"
	}
	return said + fmt.Sprintf(", and ran the first in line up to %.1f ms late", float64(t.latest)/float64(time.Millisecond))
}
