//go:build trex

package realtrex

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// question is one that a user asks of a device, as a LoadTest for a TRex that runs already or with the verb ramp.
type question struct {
	name      string
	procedure string // with {top}, which is one and a half times the highest limit, {highest} and {low}, its half and its twentieth; empty: the verb ramp asks
	// deep is a device that holds so many milliseconds' frames that bursts can measure it.
	deep bool
	// delayed is a device that holds each frame for a while.
	delayed bool
}

var questions = []question{
	{name: "ramp, the verb"},
	{name: "Ramp", procedure: "{ramp: {warmupRate: {low}, warmupDuration: 2s, targetRate: {top}, rampDuration: 12s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 5s, holdDuration: 0s, stopAtSaturation: true}}"},
	{name: "Search", procedure: "{type: Search, search: {maxRate: {top}, minRate: {low}, warmupDuration: 1s}}"},
	{name: "Search from all that a line carries", procedure: "{type: Search, search: {warmupDuration: 1s, classification: Sequential}}"},
	{name: "FrameLoss", procedure: "{type: FrameLoss, frameLoss: {maxRate: {top}, to: {quarter}, step: {half}, warmupDuration: 1s, trialDuration: 5s, cleanTrials: 0}}"},
	{name: "BackToBack", deep: true, procedure: "{type: BackToBack, backToBack: {rate: {top}, warmupDuration: 1s, trialDuration: 5s, repetitions: 3}}"},
	{name: "Soak", procedure: `{type: Soak, soak: {lossRatio: 0.1%, duration: 60s, firstTrialDuration: 1s, maxRate: {top}, minRate: {low}, warmupDuration: 1s}}`},
	{name: "MaximumOfferedLoad", procedure: "{type: MaximumOfferedLoad, maximumOfferedLoad: {rate: {top}, warmupDuration: 1s, trialDuration: 5s, trials: 2}}"},
	{name: "ConstantLoad, too much", procedure: "{type: ConstantLoad, constantLoad: {rate: {top}, warmupDuration: 1s, duration: 10s, window: 2s}}"},
	{name: "ConstantLoad, without loss", procedure: `{type: ConstantLoad, maxLossRatio: 0%, constantLoad: {rate: {quarter}, warmupDuration: 1s, duration: 10s, window: 2s}}`},
	{name: "latency", delayed: true, procedure: "{type: ConstantLoad, constantLoad: {rate: {quarter}, warmupDuration: 1s, duration: 5s, window: 5s}, latency: {loads: [50%, 100%], trialDuration: 5s}}"},
}

// asked is a question with what was drawn for it.
type asked struct {
	question
	number int // of the draws
	limit  int64
	saves  time.Duration
	delay  time.Duration
}

func (q question) draw(number int) asked {
	a := asked{question: q, number: number, limit: *given, saves: 10 * time.Millisecond}
	if a.limit == 0 {
		least := *most * 4 / 10
		a.limit = least + rand.Int64N(*most-least+1)
	}
	a.saves = max(a.saves, deepEnough*time.Second/time.Duration(a.limit))
	if q.deep {
		a.saves = time.Duration(50+rand.IntN(101)) * time.Millisecond
	}
	if q.delayed {
		a.delay = time.Duration(30+rand.IntN(51)) * time.Millisecond
	}
	return a
}

// deepEnough is how many packets a limit saves up at least: a card hands some over at a time, and more than one at once is no load above a limit of a hundred packets/s.
const deepEnough = 20

// rate is a share of the highest limit that may be drawn.
func rate(share float64) string { return fmt.Sprintf("%dpps", max(1, int64(share*float64(*most)))) }
