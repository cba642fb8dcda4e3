package goals

import "math"

// Sequential decides a load as soon as its long trials are one-sided enough; what isn't is decided by the sum, as by RFC9971:
//
//	the load holds         once  good ≥ lead.good + 3 × bad
//	the load doesn't hold  once  bad  ≥ lead.bad  + 2 × good
//
// The leads are the smallest with which no load is on the wrong side more often than by the sum alone, but for tolerance, however often its trials are bad, as long as trials are independent of each other. TestLeadsAreTheSmallest computes them anew.
type lead struct{ good, bad int }

const (
	goodPerBad = 3
	badPerGood = 2
	tolerance  = 0.0025 // how much more often, of all loads
)

// leads are of goals with an exceed ratio of one half, by how many trials the sum takes at most. Fewer trials than the table begins with are too few for a lead, of more than it has the sum decides alone.
var leads = [...]lead{
	9: {4, 4}, 10: {4, 5},
	11: {4, 4}, 12: {4, 5}, 13: {5, 5}, 14: {4, 5}, 15: {5, 5}, 16: {5, 6}, 17: {5, 5}, 18: {5, 6}, 19: {5, 5}, 20: {5, 6},
	21: {6, 6}, 22: {5, 6}, 23: {6, 6}, 24: {5, 6}, 25: {6, 6}, 26: {5, 6}, 27: {6, 6}, 28: {6, 7}, 29: {6, 6}, 30: {6, 7},
	31: {6, 6}, 32: {6, 7}, 33: {6, 6}, 34: {6, 7}, 35: {6, 7}, 36: {6, 7}, 37: {6, 7}, 38: {6, 7}, 39: {6, 7}, 40: {6, 7},
	41: {6, 7}, 42: {6, 7}, 43: {7, 7}, 44: {6, 7}, 45: {7, 7}, 46: {6, 7}, 47: {7, 7}, 48: {6, 7}, 49: {7, 7}, 50: {6, 7},
	51: {7, 7}, 52: {6, 7}, 53: {7, 7}, 54: {6, 7}, 55: {7, 7}, 56: {7, 8}, 57: {7, 7}, 58: {7, 8}, 59: {7, 8}, 60: {7, 8},
}

// A race is how many long trials of one kind alone decide a load by the sum, if they all take as long.
type race struct{ good, bad int }

// raceOf is that of a sum, in seconds, of which a share may be bad.
func raceOf(sum, exceed, took float64) race {
	const mostTrials = 400 // beyond, more of them say no more
	took = max(took, sum/mostTrials)
	return race{max(1, int(math.Ceil(sum*(1-exceed)/took))), int(math.Floor(sum*exceed/took)) + 1}
}

// lead is by how much one-sided trials shorten the race; false: they don't.
func (r race) lead() (lead, bool) {
	most := r.good + r.bad - 1
	if most >= len(leads) || leads[most].good == 0 {
		return lead{}, false
	}
	return leads[most], true
}

// wins says who has won by the leads after some trials, if anybody.
func (l lead) wins(good, bad int) class {
	switch {
	case good >= l.good+goodPerBad*bad:
		return lower
	case bad >= l.bad+badPerGood*good:
		return upper
	}
	return undecided
}

// holds is the chance that the race is won by good trials, and how many trials it takes on average, if each is bad with a probability, independently of the others. By a lead it may end sooner.
func (r race) holds(bad float64, sooner func(good, bad int) class) (chance, trials float64) {
	// The chance to come by so many good trials (columns) and bad ones (rows), undecided.
	here := make([]float64, r.good)
	here[0] = 1
	for b := range r.bad {
		below := make([]float64, r.good)
		for g := range r.good {
			trials += here[g]
			if next := here[g] * (1 - bad); g+1 == r.good || sooner(g+1, b) == lower {
				chance += next
			} else {
				here[g+1] += next
			}
			if b+1 < r.bad && sooner(g, b+1) == undecided {
				below[g] = here[g] * bad
			}
		}
		here = below
	}
	return chance, trials
}

func never(int, int) class { return undecided }

// wrong is the chance that a load is put on the wrong side.
func (r race) wrong(bad, exceed float64, sooner func(good, bad int) class) float64 {
	chance, _ := r.holds(bad, sooner)
	if bad <= exceed {
		return 1 - chance
	}
	return chance
}

// wrongClass is that chance for a target's loads, at its worst of two probabilities, if trials took as long as the first that was long enough.
func (s *search) wrongClass(t target) float64 {
	for _, trial := range s.trials {
		if trial.Duration < t.trial {
			continue
		}
		r, sooner := raceOf(t.sum, t.exceed, trial.Took.Seconds()), never
		if lead, ok := r.lead(); ok && t.early {
			sooner = lead.wins
		}
		return max(r.wrong(0.2, t.exceed, sooner), r.wrong(0.8, t.exceed, sooner))
	}
	return math.NaN()
}
