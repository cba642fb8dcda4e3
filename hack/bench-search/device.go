package main

import (
	"math"
	"math/rand/v2"
)

// A device is what is searched: how many frames it loses of a load, from moment to moment.
type device struct {
	name, description string
	// start makes the device ready for one search: loses says how many frames/s are lost of a load in the slice of
	// time that begins at a moment, in seconds. trial is called as each trial begins.
	start func(capacity float64, chance *rand.Rand) running
}

type running struct {
	trial func()
	loses func(load, elapsed, slice float64) float64
}

// nominal is what a device forwards, in frames/s, varied by up to 20 % from seed to seed, so that no search
// profits from a round figure.
const nominal = 8e6

func noReset() {}

func excess(load, capacity float64) float64 { return max(0, load-capacity) }

var devices = []device{
	{"hard limit", "forwards up to a rate, and loses what is above", func(capacity float64, _ *rand.Rand) running {
		return running{noReset, func(load, _, _ float64) float64 { return excess(load, capacity) }}
	}},
	{"collapses", "a hard limit, of which a tenth is lost once 5 % more is offered",
		func(capacity float64, _ *rand.Rand) running {
			return running{noReset, func(load, _, _ float64) float64 {
				if load > 1.05*capacity {
					return load - 0.9*capacity
				}
				return excess(load, capacity)
			}}
		}},
	{"jitter 0.2 %", "a limit that is another one in each trial, normal with a deviation of 0.2 %",
		func(capacity float64, chance *rand.Rand) running {
			current := capacity
			return running{func() { current = capacity * (1 + 0.002*chance.NormFloat64()) },
				func(load, _, _ float64) float64 { return excess(load, current) }}
		}},
	{"blips", "a hard limit, and 2 ms of traffic lost every 10 s on average, at any load",
		func(capacity float64, chance *rand.Rand) running {
			return running{noReset, func(load, _, slice float64) float64 {
				lost := excess(load, capacity)
				if chance.Float64() < slice/10 {
					lost += load * 0.002 / slice
				}
				return lost
			}}
		}},
	{"soft knee", "begins to lose 2.5 % below its limit, and reaches that 2.5 % above",
		func(capacity float64, _ *rand.Rand) running {
			begins, ends := 0.975*capacity, 1.025*capacity
			return running{noReset, func(load, _, _ float64) float64 {
				if load < ends {
					return math.Pow(excess(load, begins), 2) / 2 / (ends - begins)
				}
				return load - capacity
			}}
		}},
	{"drift", "a limit that moves up and down by 0.3 % every 2 minutes",
		func(capacity float64, chance *rand.Rand) running {
			phase := chance.Float64() * 2 * math.Pi
			return running{noReset, func(load, elapsed, _ float64) float64 {
				return excess(load, capacity*(1+0.003*math.Sin(phase+elapsed*2*math.Pi/120)))
			}}
		}},
	{"worse at first", "a limit that is 3 % lower at first, and comes up within some 10 s",
		func(capacity float64, _ *rand.Rand) running {
			return running{noReset, func(load, elapsed,
				_ float64) float64 {
				return excess(load, capacity*(1-0.03*math.Exp(-elapsed/10)))
			}}
		}},
	{"two states", "a limit that is 2 % lower for 3 s, every 15 s on average",
		func(capacity float64, chance *rand.Rand) running {
			slow := chance.Float64() < 0.2
			return running{noReset, func(load, _, slice float64) float64 {
				lasts := 12.0
				if slow {
					lasts = 3
				}
				if chance.Float64() < slice/lasts {
					slow = !slow
				}
				if slow {
					return excess(load, 0.98*capacity)
				}
				return excess(load, capacity)
			}}
		}},
}

// What a trial takes in addition to sending its frames, in seconds.
const (
	overhead = 0.5 // before and after each trial: start, drain, reading
	poll     = 0.1 // how often counters are read while a trial lasts, and so the slice of time in which devices live
	flight   = 0.1 // for what is under way when a trial is stopped
)

// A searchBench has one device for one search, and a clock.
type searchBench struct {
	running
	chance *rand.Rand
	clock  float64 // seconds since the device started
	trials int
}

func newSearchBench(d device, capacity float64, seed uint64) *searchBench {
	chance := rand.New(rand.NewPCG(seed, 1))
	return &searchBench{running: d.start(capacity, chance), chance: chance}
}

// play carries out a trial of a load, in frames/s, that lasts for a duration, in seconds, or until more than
// stopAbove of its frames are lost. It returns the whole frames sent and lost, and passes the time.
func (l *searchBench) play(load, duration, stopAbove float64) (sent, lost int64, stopped bool) {
	l.trials++
	l.trial()
	planned := load * duration
	gone, part := 0.0, l.chance.Float64() // of a frame
	for at := 0.0; at < duration-1e-9; {
		slice := min(poll, duration-at)
		gone += min(l.loses(load, l.clock+at, slice), load) * slice
		at += slice
		if math.Floor(gone+part) > stopAbove*planned && at+flight < duration {
			l.clock += at + flight + overhead
			return int64(math.Round(planned)), int64(gone + part), true
		}
	}
	l.clock += duration + overhead
	return int64(math.Round(planned)), min(int64(gone+part), int64(math.Round(planned))), false
}

// holds is the highest load at which at most a share of full trials is bad, as a share of a device's capacity. The
// devices of these trials have run for some time. It is 0 if not even a quarter of the capacity holds.
func holds(d device, duration, loss, share float64, trials int) float64 {
	bad := func(load float64) bool {
		count := 0
		for seed := range trials {
			l := newSearchBench(d, nominal, uint64(seed)+1e6)
			l.clock = 60 + 600*l.chance.Float64()
			sent, lost, _ := l.play(load*nominal, duration, math.Inf(1))
			if float64(lost) > loss*float64(sent) {
				count++
			}
		}
		return float64(count) > share*float64(trials)
	}
	if bad(0.25) {
		return 0
	}
	low, high := 0.25, 1.25
	for high-low > 2e-5 {
		if middle := (low + high) / 2; bad(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return (low + high) / 2
}
